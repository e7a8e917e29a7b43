// The tokenizer of SentencePiece's unigram models: text becomes the numbers of its likeliest pieces. C++17, UTF-8.
//
//     unigram pieces("vocabulary.txt");
//     std::vector<int64_t> ids = pieces.encode("How are you?");      // ▁How ▁are ▁you ?
//
// Of the normalisation NFKC there is what English text meets: spaces of all widths, full-width letters, ligatures, dots and raised digits. Accents must be
// composed. Bytes that are not UTF-8 become the unknown piece.
#ifndef UNIGRAM_HPP
#define UNIGRAM_HPP

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

class unigram {
public:
  /// A file with a piece, a tab and its logarithmic probability on each line. The first `reserved` are no text.
  explicit unigram(const std::string &path, int64_t reserved = 6) {
    std::ifstream file(path, std::ios::binary);
    int64_t id = 0;
    for (std::string line; std::getline(file, line); ++id) {
      const size_t tab = line.find('\t');
      if (tab == std::string::npos)
        throw std::runtime_error(path + ": line " + std::to_string(id + 1) + " is no piece with a number behind it");
      if (id < reserved)
        continue;
      pieces[line.substr(0, tab)] = {std::stod(line.substr(tab + 1)), id};
      longest = std::max(longest, split(line.substr(0, tab)).size());
    }
    if (pieces.empty())
      throw std::runtime_error(path + ": the vocabulary has no pieces");
  }

  std::vector<int64_t> encode(const std::string &text) const {
    std::string spaced;
    for (const std::string &letter : split(text))
      spaced += normalize(letter);
    if (spaced.empty())
      return {};
    std::vector<std::string> letters = split(" " + spaced);
    for (std::string &letter : letters)
      letter = letter == " " ? "▁" : letter;
    const std::vector<step> steps = findBest(letters);
    std::vector<int64_t> result;
    for (size_t end = letters.size(); end > 0; end -= steps[end].length)
      if (steps[end].id != unknown || result.empty() || result.back() != unknown)
        result.push_back(steps[end].id);
    std::reverse(result.begin(), result.end());
    return result;
  }

private:
  struct piece {
    double score;
    int64_t id;
  };
  /// The piece that ends at a place, of the likeliest pieces up to there.
  struct step {
    double score = 0;
    int64_t id = unknown;
    size_t length = 1;
    bool isReached = false;
  };
  static constexpr int64_t unknown = 0;
  std::unordered_map<std::string, piece> pieces;
  size_t longest = 0;

  std::vector<step> findBest(const std::vector<std::string> &letters) const {
    std::vector<step> steps(letters.size() + 1);
    for (size_t start = 0; start < letters.size(); ++start) {
      bool isKnown = false;
      auto offer = [&](size_t length, const piece &found) {
        step &end = steps[start + length];
        const double score = steps[start].score + found.score;
        if (!end.isReached || score >= end.score)
          end = {score, found.id, length, true};
      };
      std::string text;
      for (size_t length = 1; length <= longest && start + length <= letters.size(); ++length) {
        text += letters[start + length - 1];
        if (const auto found = pieces.find(text); found != pieces.end()) {
          offer(length, found->second);
          isKnown = true;
        }
      }
      if (!isKnown)
        offer(1, {0, unknown});
    }
    return steps;
  }

  /// Characters, each as its bytes.
  static std::vector<std::string> split(const std::string &text) {
    std::vector<std::string> letters;
    for (size_t at = 0; at < text.size();) {
      const unsigned char lead = (unsigned char)text[at];
      size_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
      letters.push_back(text.substr(at, size));
      at += letters.back().size();
    }
    return letters;
  }

  static std::string normalize(const std::string &letter) {
    static const std::unordered_map<std::string, std::string> forms = {
    {"\u00A0", " "}, {"\u2002", " "}, {"\u2003", " "}, {"\u2007", " "}, {"\u2008", " "}, {"\u2009", " "}, {"\u200A", " "}, {"\u202F", " "},
    {"\u205F", " "}, {"\u3000", " "}, {"…", "..."}, {"ﬀ", "ff"}, {"ﬁ", "fi"}, {"ﬂ", "fl"}, {"ﬃ", "ffi"}, {"ﬄ", "ffl"}, {"²", "2"}, {"³", "3"},
    {"¹", "1"}, {"™", "TM"}, {"№", "No"}};
    if (const auto form = forms.find(letter); form != forms.end())
      return form->second;
    // U+FF01 to U+FF5E are ASCII in the width of Chinese characters.
    if (letter.size() == 3 && letter[0] == '\xEF' && (letter[1] == '\xBC' || letter[1] == '\xBD')) {
      const int code = 0xF000 | (letter[1] & 0x3F) << 6 | (letter[2] & 0x3F);
      if (code >= 0xFF01 && code <= 0xFF5E)
        return std::string(1, char(code - 0xFF01 + '!'));
    }
    return letter;
  }
};

#endif // UNIGRAM_HPP
