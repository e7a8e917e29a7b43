// What is known of the functions that objects may call.
#include "compiler/emit/ForeignSymbols.h"
#include <gtest/gtest.h>

using namespace kiln;

static void expectAll(std::initializer_list<const char *> names, ForeignKind kind) {
  for (const char *name : names)
    EXPECT_EQ(classifyForeign(name), kind) << name;
}

TEST(ForeignSymbols, KnowsFunctionsOfCompilers) {
  expectAll({"memcpy", "memset", "__aeabi_dmul", "__aeabi_d2lz", "__divdi3", "__udivti3", "__extendhfsf2", "__truncsfhf2", "__floatundidf", "__powisf2",
             "__chkstk", "___chkstk_ms", "__gnu_h2f_ieee"},
            ForeignKind::Support);
  expectAll({"_GLOBAL_OFFSET_TABLE_", "__stack_pointer"}, ForeignKind::Linker);
}

TEST(ForeignSymbols, KnowsAllocators) {
  expectAll({"malloc", "free", "posix_memalign", "_Znwm", "_Znam", "_ZdlPv", "_ZdaPvm", "??2@YAPEAX_K@Z", "??3@YAXPEAX@Z", "mmap"}, ForeignKind::Allocation);
}

TEST(ForeignSymbols, KnowsTheMathLibrary) { expectAll({"exp", "expf", "expl", "sincosf", "floor", "fmod", "_ZGVbN4v_sinf"}, ForeignKind::Math); }

TEST(ForeignSymbols, KnowsWhatVaries) { expectAll({"clock_gettime", "rand", "getrandom", "getenv", "secure_getenv", "pthread_self"}, ForeignKind::Varying); }

TEST(ForeignSymbols, KnowsNothingOfOthers) {
  expectAll({"my_softmax", "printf", "__cxa_throw", "__errno_location", "__printf_chk", "kiln_onednn_matmul", "expensive", "addf"}, ForeignKind::Unknown);
}
