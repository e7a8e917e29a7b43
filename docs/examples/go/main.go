// Reads handwritten digits with a model that Kiln has compiled. Usage: read_digits FOLDER, which has held_out.pgm and held_out.txt.
package main

//go:generate kiln ../digits/digits.onnx --dim batch=1 -q -o model

/*
#cgo CFLAGS: -I${SRCDIR}/model
#cgo LDFLAGS: -L${SRCDIR}/model -ldigits -lm
#include "digits.h"
#include <stdlib.h>

// Go may pass its slices to C, but not structs that point to them.
static kiln_status run(const float *image, float *probabilities, void *workspace) {
  const digits_inputs in = {image};
  const digits_outputs out = {probabilities};
  return digits_run(&in, &out, workspace, NULL);
}
*/
import "C"

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"unsafe"
)

const pixels, classes = 64, 10

// Model has the memory that a run works in. Every goroutine may have its own.
type Model struct{ workspace unsafe.Pointer }

// NewModel allocates the workspace outside of Go's heap, because it is aligned. Close frees it.
func NewModel() Model {
	size := (C.digits_workspace_size()/C.KILN_ALIGNMENT + 1) * C.KILN_ALIGNMENT
	return Model{C.aligned_alloc(C.KILN_ALIGNMENT, size)}
}

func (m Model) Close() { C.free(m.workspace) }

// Run returns the probability of each digit for an image of 8x8 pixels from 0 (paper) to 16 (ink).
func (m Model) Run(image *[pixels]float32) (probabilities [classes]float32, err error) {
	status := C.run((*C.float)(&image[0]), (*C.float)(&probabilities[0]), m.workspace)
	if status != C.KILN_STATUS_OK {
		err = fmt.Errorf("the model ends with status %d", status)
	}
	return
}

func count(folder string) (right, all int, err error) {
	file, err := os.ReadFile(folder + "/held_out.pgm")
	if err != nil {
		return
	}
	text, err := os.ReadFile(folder + "/held_out.txt")
	if err != nil {
		return
	}
	model := NewModel()
	defer model.Close()
	images := file[bytes.IndexByte(file, '\n')+1:] // the header is one line
	for i, label := range strings.Fields(string(text)) {
		var image [pixels]float32
		for j, pixel := range images[i*pixels : (i+1)*pixels] {
			image[j] = float32(pixel)
		}
		probabilities, err := model.Run(&image)
		if err != nil {
			return right, all, err
		}
		best := 0
		for digit, probability := range probabilities {
			if probability > probabilities[best] {
				best = digit
			}
		}
		if fmt.Sprint(best) == label {
			right++
		}
		all++
	}
	return
}

func main() {
	folder := "."
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	right, all, err := count(folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, "read_digits:", err)
		os.Exit(1)
	}
	fmt.Printf("%d of %d held-out digits are right, by code for %s\n", right, all, C.GoString(C.digits_target()))
}
