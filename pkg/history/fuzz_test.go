package history

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Whatever a history holds, it is read to its end: events keep the format, times never go
// back, and what does not follow from the file is damage.
func FuzzReader(f *testing.F) {
	f.Add([]byte(validHeader + `{"seq":1,"at":1,"kind":"recorderMissed","recorderMissed":{"source":"etcd","message":"m"}}` + "\n" + `{"seq":2,"at":2,"kind":"end","end":{"complete":true}}` + "\n"))
	f.Add([]byte(validHeader + `{"seq":1,"at":null,"kind":"hold","hold":{"phase":"begin","releases":null}}`))
	f.Add([]byte(validHeader + `{"seq":1,"at":1,"kind":"recorderMissed","recorderMissed":{"source":"\ud800","message":"m"}}` + "\n"))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	if raw, err := os.ReadFile(filepath.Join("..", "..", "reports", "kubernetes", "local-v1.35.4-hopeless-migrations", "history.jsonl.gz")); err == nil {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := NewReader(bytes.NewReader(raw))
		if err != nil {
			return
		}
		var at, seq int64
		for {
			e, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if e.At < at || e.At > int64(MaxTime) || e.From < 0 || e.From > e.At || e.Seq <= seq {
				t.Fatalf("event %d has the times %d and %d after event %d at %d", e.Seq, e.From, e.At, seq, at)
			}
			if payloadProblem(e) != "" {
				t.Fatal(payloadProblem(e))
			}
			if e.Seq != seq+1 && len(r.Damage) == 0 {
				t.Fatalf("event %d comes after %d, and nothing is damaged", e.Seq, seq)
			}
			at, seq = e.At, e.Seq
		}
		if (seq == 0 || !r.ended) && len(r.Damage) == 0 {
			t.Fatal("it has no end, and nothing is damaged")
		}
		if len(r.Damage) > maxDamage+3 {
			t.Fatalf("%d sentences of damage", len(r.Damage))
		}
	})
}
