package bundle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestOnlyALargeHistoryIsCompressed(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, HistoryFile)
	text := `{"format":"evenkeel-history","version":2,"run":"r"}` + "\n" + `{"seq":1,"at":1,"kind":"end","end":{"complete":true}}` + "\n"
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := CompressHistory(dir, CompressFrom); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); err != nil {
		t.Errorf("a small one is gone: %v", err)
	}
	if err := CompressHistory(dir, int64(len(text))); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("it is still there as it was: %v", err)
	}
	reader, err := history.Open(t.Context(), name+Compressed)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if ev, err := reader.Next(); err != nil || ev.End == nil || reader.Header.Run != "r" {
		t.Errorf("it reads %+v, %v", ev, err)
	}
	if err := CompressHistory(dir, 0); err == nil || !strings.Contains(err.Error(), "open the history") {
		t.Errorf("without a history: %v", err)
	}
}
