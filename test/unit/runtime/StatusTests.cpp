#include "kiln/runtime.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace {

TEST(Status, EveryCodeHasItsText) {
  std::set<std::string> texts;
  for (int code = KILN_STATUS_OK; code <= KILN_STATUS_PEER_FAILED; ++code)
    texts.insert(kiln_status_string(kiln_status(code)));
  EXPECT_EQ(texts.size(), size_t(KILN_STATUS_PEER_FAILED) + 1);
  EXPECT_EQ(texts.count("unknown status"), 0u);
}

TEST(Status, UnknownCodesAreNamedSo) {
  EXPECT_STREQ(kiln_status_string(kiln_status(99)), "unknown status");
  EXPECT_STREQ(kiln_status_string(kiln_status(-1)), "unknown status");
}

} // namespace
