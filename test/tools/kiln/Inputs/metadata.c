/* Prints the metadata of the model's signature. */
#include "m.h"

#include <stdio.h>

int main(void) {
  if (!KILN_HAS_FIELD(kiln_model_info, &m_info, num_metadata))
    return 1;
  for (int64_t i = 0; i < m_info.num_metadata; ++i)
    printf("%s = %s\n", m_info.metadata[i].key, m_info.metadata[i].value);
  return 0;
}
