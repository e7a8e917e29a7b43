//===- Chart.cpp - A plan as a picture --------------------------------------===//
//
// Two panels with logarithmic axes, in which a doubling is as long anywhere: so a line of the left panel falls, and one of the right panel rises, as the
// dashed line does where ranks pay in full.
//
//===----------------------------------------------------------------------===//
#include "compiler/plan/Chart.h"
#include "compiler/files/Printable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace kiln {

static constexpr double width = 330, height = 260, left = 58, top = 52, between = 70, bottom = 46;
static constexpr const char *colours[] = {"#c2410c", "#0f766e", "#4338ca", "#a16207", "#9d174d", "#475569"};

static std::string escape(StringRef text) {
  std::string escaped;
  raw_string_ostream stream(escaped);
  printHTMLEscaped(printable(text), stream);
  return escaped;
}

/// The number in as few characters as a reader needs.
static std::string printTick(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

namespace {

/// One of the two panels.
class Panel {
public:
  Panel(raw_ostream &os, double x, StringRef title, ArrayRef<PlanCurve> curves, bool rises, double (*value)(const PlanRow &row, const PlanRow &first))
      : os(os), x0(x), curves(curves), rises(rises), value(value) {
    for (const PlanCurve &curve : curves)
      for (const PlanRow &row : curve.rows) {
        fewest = std::min(fewest, std::log2(double(row.ranks)));
        most = std::max(most, std::log2(double(row.ranks)));
        low = std::min(low, std::floor(std::log2(valueOf(curve, row))));
        high = std::max(high, std::ceil(std::log2(valueOf(curve, row))));
      }
    most = std::max(most, fewest + 1), high = std::max(high, low + 1);
    os << formatv("<text x=\"{0:f1}\" y=\"{1:f1}\" font-size=\"13\">{2}</text>\n", x0, top - 12, title);
  }
  void draw() {
    drawGrid();
    drawIdeal();
    for (auto [i, curve] : enumerate(curves))
      drawCurve(curve, colours[i % std::size(colours)]);
  }

private:
  double valueOf(const PlanCurve &curve, const PlanRow &row) const { return value(row, curve.rows.front()); }
  double getX(double log) const { return x0 + (log - fewest) / (most - fewest) * width; }
  double getY(double log) const { return top + height - (log - low) / (high - low) * height; }
  void drawGrid();
  void drawIdeal();
  void drawCurve(const PlanCurve &curve, StringRef colour);

  raw_ostream &os;
  double x0;
  ArrayRef<PlanCurve> curves;
  bool rises;
  double (*value)(const PlanRow &row, const PlanRow &first);
  double fewest = HUGE_VAL, most = -HUGE_VAL, low = HUGE_VAL, high = -HUGE_VAL;
};

} // namespace

void Panel::drawGrid() {
  constexpr const char *line = "<line x1=\"{0:f1}\" y1=\"{1:f1}\" x2=\"{2:f1}\" y2=\"{3:f1}\" stroke=\"#e7e5e4\"/>\n";
  for (double log = std::ceil(fewest); log <= most; ++log) {
    os << formatv(line, getX(log), top, getX(log), top + height);
    os << formatv("<text x=\"{0:f1}\" y=\"{1:f1}\" text-anchor=\"middle\">{2}</text>\n", getX(log), top + height + 14, printTick(std::exp2(log)));
  }
  // At most eight lines.
  double step = std::ceil((high - low) / 8);
  for (double log = low; log <= high; log += step) {
    os << formatv(line, x0, getY(log), x0 + width, getY(log));
    os << formatv("<text x=\"{0:f1}\" y=\"{1:f1}\" text-anchor=\"end\">{2}</text>\n", x0 - 5, getY(log) + 4, printTick(std::exp2(log)));
  }
  os << formatv("<text x=\"{0:f1}\" y=\"{1:f1}\" text-anchor=\"middle\">ranks</text>\n", x0 + width / 2, top + height + 30);
}

/// What ranks would give that neither wait nor exchange.
void Panel::drawIdeal() {
  const PlanCurve &curve = curves.front();
  double start = std::log2(double(curve.rows.front().ranks)), first = std::log2(valueOf(curve, curve.rows.front()));
  double doublings = std::min(most - start, rises ? high - first : first - low), end = first + (rises ? doublings : -doublings);
  os << formatv("<line x1=\"{0:f1}\" y1=\"{1:f1}\" x2=\"{2:f1}\" y2=\"{3:f1}\" stroke=\"#78716c\" stroke-dasharray=\"4 3\"/>\n", getX(start), getY(first),
                getX(start + doublings), getY(end));
}

void Panel::drawCurve(const PlanCurve &curve, StringRef colour) {
  os << "<polyline fill=\"none\" stroke=\"" << colour << "\" stroke-width=\"1.8\" points=\"";
  for (const PlanRow &row : curve.rows)
    os << formatv("{0:f1},{1:f1} ", getX(std::log2(double(row.ranks))), getY(std::log2(valueOf(curve, row))));
  os << "\"/>\n";
  for (const PlanRow &row : curve.rows)
    os << formatv("<circle cx=\"{0:f1}\" cy=\"{1:f1}\" r=\"2.6\" fill=\"{2}\"><title>{3} ranks: {4} ms, of which {5} ms exchange</title></circle>\n",
                  getX(std::log2(double(row.ranks))), getY(std::log2(valueOf(curve, row))), colour, row.ranks, printTick(row.getSeconds() * 1e3),
                  printTick(row.exchange * 1e3));
}

std::string drawPlan(const std::string &title, const std::vector<PlanCurve> &curves) {
  std::string text;
  raw_string_ostream os(text);
  double legend = 16 * double(curves.size()), whole = left + 2 * width + between + 24;
  os << formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:f0}\" height=\"{1:f0}\" font-family=\"sans-serif\" font-size=\"11\">\n", whole,
                top + height + bottom + legend);
  os << "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  os << formatv("<text x=\"{0:f1}\" y=\"20\" font-size=\"14\" font-weight=\"bold\">{1}</text>\n", left, escape(title));
  Panel(os, left, "ms of a run", curves, /*rises=*/false, [](const PlanRow &row, const PlanRow &) { return row.getSeconds() * 1e3; }).draw();
  Panel(os, left + width + between, "times as fast", curves, /*rises=*/true, [](const PlanRow &row, const PlanRow &first) {
    return first.getSeconds() / row.getSeconds();
  }).draw();
  for (auto [i, curve] : enumerate(curves)) {
    double y = top + height + bottom + 16 * double(i);
    os << formatv("<rect x=\"{0:f1}\" y=\"{1:f1}\" width=\"10\" height=\"10\" fill=\"{2}\"/><text x=\"{3:f1}\" y=\"{4:f1}\">{5}</text>\n", left, y - 9,
                  colours[i % std::size(colours)], left + 15, y, escape(curve.name));
  }
  os << "</svg>\n";
  return text;
}

} // namespace kiln
