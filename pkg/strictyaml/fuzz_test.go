package strictyaml

import "testing"

// Whatever a file holds, it is read or refused.
func FuzzDecode(f *testing.F) {
	for _, raw := range []string{"a: 1\nb: [x]\n", "a: .nan", "a: &a [*a]", "? [", "--- {}\n--- {}", "<<: {a: 1}", "spec:\n  c: {d: 1}\n"} {
		f.Add([]byte(raw), "spec.c[0].d")
	}
	f.Fuzz(func(_ *testing.T, raw []byte, path string) {
		type form struct {
			A float64        `json:"a"    yaml:"a"`
			B []string       `json:"b"    yaml:"b"`
			C map[string]any `json:"spec" yaml:"spec"`
		}
		_ = Decode("file", raw, new(form))
		_ = DecodeJSON("file", raw, new(form))
		_ = Line(raw, path)
	})
}
