// WordPiece, the tokenizer of BERT and of the models that follow it (uncased): text becomes the numbers of its pieces. C++17, UTF-8.
//
//     wordpiece pieces("vocab.txt");
//     std::vector<int64_t> ids = pieces.encode("Hello, Wörld!", 256);      // [CLS] hello , world ! [SEP]
//
// Latin letters lose their accents and become lower case, Greek and Cyrillic ones become lower case. Other letters stay as they are. Bytes that are not
// UTF-8 are left out.
#ifndef WORDPIECE_HPP
#define WORDPIECE_HPP

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

class wordpiece {
public:
  /// A file with one piece on each line, whose number is that of the line. Those inside of a word begin with ##.
  explicit wordpiece(const std::string &path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      if (!line.empty() && line.back() == '\r')
        line.pop_back();
      ids.emplace(line, int64_t(ids.size()));
    }
    unknown = find("[UNK]", path), begin = find("[CLS]", path), end = find("[SEP]", path);
  }

  /// [CLS], at most most - 2 pieces, [SEP].
  std::vector<int64_t> encode(const std::string &text, size_t most) const {
    std::vector<int64_t> result = {begin};
    for (const std::string &word : split(text))
      append(word, result);
    if (result.size() + 1 > most)
      result.resize(most - 1);
    result.push_back(end);
    return result;
  }

private:
  std::unordered_map<std::string, int64_t> ids;
  int64_t unknown, begin, end;

  int64_t find(const char *piece, const std::string &path) const {
    const auto found = ids.find(piece);
    if (found == ids.end())
      throw std::runtime_error(path + ": the vocabulary has no " + piece);
    return found->second;
  }

  /// The longest piece first, then the longest of the rest; a word that is not all made of pieces is unknown, and so is one of more than 100 characters.
  void append(const std::string &word, std::vector<int64_t> &result) const {
    std::vector<int64_t> parts;
    size_t letters = 0;
    for (unsigned char byte : word)
      letters += (byte & 0xC0) != 0x80;
    for (size_t at = 0; at < word.size() && letters <= 100;) {
      size_t size = word.size() - at;
      auto found = ids.end();
      for (; size > 0 && found == ids.end(); --size)
        found = ids.find((at ? "##" : "") + word.substr(at, size));
      if (found == ids.end())
        break;
      parts.push_back(found->second);
      at += size + 1;
      if (at == word.size())
        return (void)result.insert(result.end(), parts.begin(), parts.end());
    }
    result.push_back(unknown);
  }

  /// The next character, and `at` behind it; -1 for a byte that is not UTF-8.
  static int32_t next(const std::string &text, size_t &at) {
    const unsigned char lead = (unsigned char)text[at++];
    const int more = lead < 0x80 ? 0 : lead >= 0xC2 && lead < 0xE0 ? 1 : lead >= 0xE0 && lead < 0xF0 ? 2 : lead >= 0xF0 && lead < 0xF5 ? 3 : -1;
    if (more < 0 || text.size() - at < size_t(more))
      return -1;
    int32_t value = more == 0 ? lead : lead & (0x3F >> more);
    for (int i = 0; i < more; ++i) {
      const unsigned char byte = (unsigned char)text[at + size_t(i)];
      if ((byte & 0xC0) != 0x80)
        return -1;
      value = value << 6 | (byte & 0x3F);
    }
    const int32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (value < least[more] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
      return -1;
    at += size_t(more);
    return value;
  }

  /// Lower case without accents, for U+00C0 to U+017F.
  static const char *simplify(int32_t c) {
    static const char *const letters[] = {
    "a", "a", "a", "a", "a", "a", "æ", "c", "e", "e", "e", "e", "i", "i", "i", "i", "ð", "n", "o", "o", "o", "o", "o", "×", "ø", "u", "u", "u", "u",
    "y", "þ", "ß", "a", "a", "a", "a", "a", "a", "æ", "c", "e", "e", "e", "e", "i", "i", "i", "i", "ð", "n", "o", "o", "o", "o", "o", "÷", "ø", "u",
    "u", "u", "u", "y", "þ", "y", "a", "a", "a", "a", "a", "a", "c", "c", "c", "c", "c", "c", "c", "c", "d", "d", "đ", "đ", "e", "e", "e", "e", "e",
    "e", "e", "e", "e", "e", "g", "g", "g", "g", "g", "g", "g", "g", "h", "h", "ħ", "ħ", "i", "i", "i", "i", "i", "i", "i", "i", "i", "ı", "ĳ", "ĳ",
    "j", "j", "k", "k", "ĸ", "l", "l", "l", "l", "l", "l", "ŀ", "ŀ", "ł", "ł", "n", "n", "n", "n", "n", "n", "ŉ", "ŋ", "ŋ", "o", "o", "o", "o", "o",
    "o", "œ", "œ", "r", "r", "r", "r", "r", "r", "s", "s", "s", "s", "s", "s", "s", "s", "t", "t", "t", "t", "ŧ", "ŧ", "u", "u", "u", "u", "u", "u",
    "u", "u", "u", "u", "u", "u", "w", "w", "y", "y", "y", "z", "z", "z", "z", "z", "z", "ſ"};
    return letters[c - 0xC0];
  }

  static bool isSpace(int32_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F ||
           c == 0x3000;
  }
  static bool isControl(int32_t c) {
    return c <= 0x1F || (c >= 0x7F && c <= 0x9F) || c == 0xAD || (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
           c == 0xFEFF || c == 0xFFFD;
  }
  /// Marks that a word is split at: those of ASCII and Latin-1, general punctuation, and those of Chinese and Japanese.
  static bool isPunctuation(int32_t c) {
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126) || c == 0xA1 || c == 0xA7 || c == 0xAB || c == 0xB6 ||
           c == 0xB7 || c == 0xBB || c == 0xBF || (c >= 0x2010 && c <= 0x2027) || (c >= 0x2030 && c <= 0x205E && c != 0x2044 && c != 0x2052) ||
           (c >= 0x3001 && c <= 0x3003) || (c >= 0x3008 && c <= 0x3011) || (c >= 0xFF01 && c <= 0xFF0F && c != 0xFF04 && c != 0xFF0B);
  }
  /// Characters that are words by themselves.
  static bool isIdeograph(int32_t c) {
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x20000 && c <= 0x2CEAF) ||
           (c >= 0x2F800 && c <= 0x2FA1F);
  }

  std::vector<std::string> split(const std::string &text) const {
    std::vector<std::string> words = {""};
    for (size_t at = 0; at < text.size();) {
      const size_t start = at;
      const int32_t c = next(text, at);
      if (c < 0 || (isControl(c) && !isSpace(c)) || (c >= 0x300 && c <= 0x36F))
        continue;
      const bool isAlone = isPunctuation(c) || isIdeograph(c);
      if ((isSpace(c) || isAlone) && !words.back().empty())
        words.emplace_back();
      if (isSpace(c))
        continue;
      words.back() += lower(text.substr(start, at - start), c);
      if (isAlone)
        words.emplace_back();
    }
    if (words.back().empty())
      words.pop_back();
    return words;
  }

  static std::string lower(std::string bytes, int32_t c) {
    if (c < 0x80)
      return std::string(1, char(c >= 'A' && c <= 'Z' ? c + 32 : c));
    if (c >= 0xC0 && c < 0x180)
      return simplify(c);
    const int32_t small = (c >= 0x391 && c <= 0x3A9) || (c >= 0x410 && c <= 0x42F) ? c + 32 : c;
    return small == c ? bytes : std::string{char(0xC0 | small >> 6), char(0x80 | (small & 0x3F))};
  }
};

#endif // WORDPIECE_HPP
