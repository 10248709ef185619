//go:build linux

package install

import (
	"fmt"
	"io"
	"os"

	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/cluster/kind/archive"
)

// program is where the image has this executable.
const program = "/evenkeel"

// WriteImage writes an archive of an image that holds this executable and nothing else.
func WriteImage(w io.Writer, name string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this executable: %w", err)
	}
	file, err := os.Open(self)
	if err != nil {
		return fmt.Errorf("read this executable: %w", err)
	}
	defer file.Close()
	if err := agent.CheckStatic(file); err != nil {
		return err
	}
	return archive.Write(w, name, map[string]string{program: self}, []string{program})
}
