//go:build linux

package agent

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
)

// CheckStatic says in a sentence that an executable could not run in a node or in an image,
// which have other libraries or none.
func CheckStatic(file io.ReaderAt) error {
	program, err := elf.NewFile(file)
	if err != nil {
		return fmt.Errorf("this executable cannot be read: %w", err)
	}
	for _, part := range program.Progs {
		if part.Type == elf.PT_INTERP {
			return errors.New("nodes run this executable too, so it must be linked statically: build it with CGO_ENABLED=0, as `make build` does")
		}
	}
	return nil
}
