// Which files are read, and how far.
#include "compiler/files/InputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace kiln;

namespace {

class InputFile : public testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("kiln-input-file", folder)); }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string inside(const char *name) const { return (folder + "/" + name).str(); }
  std::string write(llvm::StringRef text) const {
    std::error_code error;
    llvm::raw_fd_ostream(inside("file"), error) << text;
    return inside("file");
  }

  llvm::SmallString<128> folder;
};

std::string fault(const std::string &path, uint64_t most = 100) {
  auto file = readInputFile(path, most);
  auto head = readFileHead(path);
  std::string first = file ? "" : llvm::toString(file.takeError()), second = head ? "" : llvm::toString(head.takeError());
  // The limit is that of the whole file.
  EXPECT_TRUE(second == first || second.empty()) << second;
  return first;
}

} // namespace

TEST_F(InputFile, IsReadWhole) {
  std::string text(200000, 'x');
  auto file = llvm::cantFail(readInputFile(write(text), 1 << 20));
  EXPECT_EQ(file->getBuffer(), text);
  EXPECT_EQ(file->getBufferEnd()[0], 0);
  EXPECT_EQ(file->getBufferIdentifier(), inside("file"));
  EXPECT_EQ(llvm::cantFail(readInputFile(write(""), 0))->getBufferSize(), 0u);
  FileHead head = llvm::cantFail(readFileHead(write(text)));
  EXPECT_EQ(head.bytes, text.size());
  EXPECT_EQ(head.first, std::string(64, 'x'));
}

TEST_F(InputFile, MayBeALink) {
  write("text");
  ASSERT_EQ(symlink("file", inside("link").c_str()), 0);
  EXPECT_EQ(llvm::cantFail(readInputFile(inside("link"), 10))->getBuffer(), "text");
}

// Such a file has no size, and bytes nevertheless.
TEST_F(InputFile, MayBeOfProc) {
  auto file = readInputFile("/proc/self/status", 1 << 20);
  ASSERT_TRUE(bool(file));
  EXPECT_TRUE((*file)->getBuffer().starts_with("Name:"));
  EXPECT_EQ(fault("/proc/self/status", 10), "the file has more than 10 bytes");
}

TEST_F(InputFile, HasALimit) {
  EXPECT_EQ(fault(write("12345678"), 8), "");
  EXPECT_EQ(fault(write("123456789"), 8), "the file has more than 8 bytes");
  // No memory is taken for what a sparse file pretends to hold.
  ASSERT_EQ(truncate(inside("file").c_str(), off_t(1) << 40), 0);
  EXPECT_EQ(fault(inside("file"), mostDataBytes), "the file has more than 8589934592 bytes");
}

TEST_F(InputFile, IsRegular) {
  ASSERT_EQ(mkfifo(inside("fifo").c_str(), 0600), 0);
  EXPECT_EQ(fault(inside("fifo")), "is not a regular file");
  EXPECT_EQ(fault("/dev/zero"), "is not a regular file");
  EXPECT_EQ(fault(inside("")), "Is a directory");
  EXPECT_EQ(fault(inside("missing")), "No such file or directory");
  EXPECT_EQ(fault(std::string("a\0b", 3)), "the path holds a zero byte");
  int server = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::string path = inside("socket");
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(bind(server, reinterpret_cast<sockaddr *>(&address), sizeof(address)), 0);
  EXPECT_NE(fault(path), "");
  close(server);
}
