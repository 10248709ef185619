package strictyaml

import (
	"strings"
	"testing"
)

type document struct {
	Name string `yaml:"name" json:"name"`
	Spec struct {
		List []struct {
			Key int `yaml:"key" json:"key"`
		} `yaml:"list" json:"list"`
	} `yaml:"spec" json:"spec"`
}

func TestErrorsNameTheLine(t *testing.T) {
	const unknown = "name: x\nspec:\n  list:\n    - key: 1\n    - kee: 2\n"
	for _, test := range []struct{ name, in, want string }{
		{"unknown key", unknown, `f.yaml:5: unknown key "`},
		{"wrong type", "name: x\nspec: [1]\n", "f.yaml"},
		{"empty", "", "f.yaml"},
		{"not YAML", "name: [\n", "f.yaml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, decode := range []func(string, []byte, any) error{Decode, DecodeJSON} {
				err := decode("f.yaml", []byte(test.in), new(document))
				if test.name == "empty" && err == nil {
					continue // as JSON it is null, which callers refuse by its kind
				}
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), ": yaml: ") {
					t.Errorf("error %v, want one with %q", err, test.want)
				}
			}
		})
	}
	if err := Decode("f.yaml", []byte("name: x\n---\nname: y\n"), new(document)); err == nil || !strings.Contains(err.Error(), "more than one") {
		t.Errorf("two documents: %v", err)
	}
	good := []byte("name: x\nspec:\n  list:\n    - key: 1\n")
	if err := Decode("f.yaml", good, new(document)); err != nil {
		t.Error(err)
	}
	if err := DecodeJSON("f.yaml", good, new(document)); err != nil {
		t.Error(err)
	}
}

func TestLine(t *testing.T) {
	raw := []byte("a:\n  b:\n  - c: 1\n    d: 2\n")
	for path, want := range map[string]int{"a": 1, "a.b": 2, "a.b[0]": 3, "a.b[0].d": 4, "a.x": 0, "a.b[7]": 0} {
		if got := Line(raw, path); got != want {
			t.Errorf("Line(%q) = %d, want %d", path, got, want)
		}
	}
}
