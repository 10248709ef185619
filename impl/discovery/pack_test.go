package discovery

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"
)

func TestPack(t *testing.T) {
	c := cluster(t, 3000)
	before := c.Document()
	packed := packOf(t, before)
	if len(packed.blocks) < 10 {
		t.Errorf("%d blocks of %d bytes", len(packed.blocks), len(packed.content))
	}
	whole, err := compress(packed.content)
	if err != nil {
		t.Fatal(err)
	}
	// Blocks know what is before them, so they cost next to nothing.
	if limit := len(whole) * 5 / 4; len(packed.bytes) > limit {
		t.Errorf("%d bytes in blocks, %d in one piece", len(packed.bytes), len(whole))
	}
	c.Set(hosted(Custom, "group1500.example.com", "v1", Priority{1000, 100}, "things1500", "more"))
	if err := c.Publish(); err != nil {
		t.Fatal(err)
	}
	after := c.Document()
	if after.Tag() == before.Tag() {
		t.Fatal("nothing changed")
	}
	fresh := 0
	for name, b := range packOf(t, after).blocks {
		old, ok := packed.blocks[name]
		if !ok || &old.deflated[0] != &b.deflated[0] {
			fresh++
		}
	}
	// The one that changed, and those that see it before them.
	if fresh == 0 || fresh > 3 {
		t.Errorf("%d blocks were compressed for one change", fresh)
	}
	for _, small := range []string{"", "{}"} {
		p, err := packFrom(packed, []byte(small), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := unpack(t, p); string(got) != small {
			t.Errorf("%q became %q", small, got)
		}
	}
}

// packOf is the document's pack, which must hold what the document says.
func packOf(t *testing.T, d *Document) *pack {
	t.Helper()
	raw, err := d.Bytes(canonical, true)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := d.Bytes(canonical, false)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(raw, d.packed.bytes) || !bytes.Equal(unpack(t, d.packed), plain) {
		t.Fatal("the pack is not that of the document")
	}
	return d.packed
}

func unpack(t *testing.T, p *pack) []byte {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(p.bytes))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
