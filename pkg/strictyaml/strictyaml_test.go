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
		{"a list for a group", "name: x\nspec: [1]\n", "a list, where a group of keys is needed"},
		{"a group for a list", "name: x\nspec:\n  list: {}\n", "a group of keys, where a list is needed"},
		{"a text for a list", "name: x\nspec:\n  list: y\n", "where a list is needed"},
		{"a text for a number", "name: x\nspec:\n  list:\n    - key: y\n", "where a whole number is needed"},
		{"a list for a text", "name: [x]\n", "f.yaml:1: "},
		{"empty", "", "f.yaml"},
		{"not YAML", "name: [\n", "f.yaml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, decode := range []func(string, []byte, any) error{Decode, DecodeJSON} {
				err := decode("f.yaml", []byte(test.in), new(document))
				if test.name == "empty" && err == nil {
					continue // as JSON it is null, which callers refuse by its kind
				}
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), ": yaml: ") || strings.Contains(err.Error(), "unmarshal") {
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

func TestNumbersAreFinite(t *testing.T) {
	for _, number := range []string{".nan", ".NaN", ".inf", "-.inf", "+.Inf", "1e999"} {
		var into struct {
			Rates []float64 `yaml:"rates"`
		}
		err := Decode("f.yaml", []byte("rates:\n- 1\n- "+number+"\n"), &into)
		if err == nil || !strings.Contains(err.Error(), "f.yaml:3: ") || !strings.Contains(err.Error(), number) {
			t.Errorf("%s: error %v, rates %v", number, err, into.Rates)
		}
	}
	var into struct{ Text string }
	if err := Decode("f.yaml", []byte("text: .nano\n"), &into); err != nil {
		t.Errorf("a text: %v", err)
	}
}

func TestMismatch(t *testing.T) {
	for _, test := range []struct{ is, goType, want string }{
		{tagged("str", "x"), "[]string", `a text ("x"), where a list is needed`},
		{tagged("map", ""), "cluster.Means", "a group of keys, where a single value is needed"},
		{tagged("seq", ""), "cluster.Means", "a list, where no list is needed"},
		{tagged("int", "3"), "cluster.Spec", "a number (3), where a group of keys is needed"},
		{valued("number 3.5"), "*int32", "a number (3.5), where a whole number is needed"},
		{valued("string"), "bool", "a text, where true or false is needed"},
		{valued("null"), "map[string]string", "nothing, where a group of keys is needed"},
	} {
		if got := mismatch(test.is, test.goType); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
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
