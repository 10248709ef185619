package registry

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

func TestDomain_CheckRefusesWhatIsOutside(t *testing.T) {
	for _, tc := range []struct {
		domain    Domain
		good, bad []any
	}{
		{OneOf("a", "b"), []any{"a", "b"}, []any{"c", 1}},
		{OneOf(cluster.Etcd), []any{"etcd", cluster.Etcd}, []any{"scheduler"}},
		{Flag(), []any{true, false}, []any{"true", 1}},
		{Count(1, 3, 2), []any{1, 3, 2.0}, []any{0, 4, 1.5, "1"}},
		{Rate("writes a second", 0, 10, 1), []any{0, 0.5, 10.0}, []any{-0.1, 10.1}},
		{Between(time.Second, time.Minute), []any{time.Second, time.Minute}, []any{time.Second - 1, time.Minute + 1, 5}},
		{AnyText(), []any{"x"}, []any{""}},
		{Names("hold"), []any{"x"}, []any{""}},
		{OneOf("a", "b").List(1, 2), []any{[]any{"a"}, []string{"a", "b"}}, []any{"a", []any{}, []string{"a", "b", "a"}, []any{"c"}}},
		{Of(Parameter{Name: "n", Domain: Count(1, 2)}), []any{Values{"n": 1}}, []any{Values{"n": 3}, Values{}, Values{"n": 1, "m": 1}, 1}},
	} {
		for _, value := range tc.good {
			if err := tc.domain.Check(value); err != nil {
				t.Errorf("%s: %v is refused: %v", tc.domain, value, err)
			}
		}
		for _, value := range tc.bad {
			if err := tc.domain.Check(value); err == nil {
				t.Errorf("%s: %v is taken", tc.domain, value)
			}
		}
	}
}

func TestCheck_TakesOneVariant(t *testing.T) {
	parameters := []Parameter{
		{Name: "always", Domain: Flag()},
		{Name: "count", Domain: Count(1, 9), Variant: "count"},
		{Name: "resource", Domain: AnyText(), Variant: "resource"},
		{Name: "group", Domain: AnyText(), Variant: "resource", Optional: true},
	}
	for _, tc := range []struct {
		values Values
		want   string
	}{
		{Values{"always": true, "count": 3}, ""},
		{Values{"always": true, "resource": "x"}, ""},
		{Values{"always": true, "resource": "x", "group": "y"}, ""},
		{Values{"count": 3}, "always is missing"},
		{Values{"always": true}, "one of [count resource]"},
		{Values{"always": true, "group": "y"}, "resource is missing"},
		{Values{"always": true, "count": 3, "resource": "x"}, "are of [count resource]"},
		{Values{"always": true, "count": 3, "color": "x"}, "there is no parameter color"},
	} {
		err := Check(parameters, tc.values)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%v: error %v, want %q", tc.values, err, tc.want)
		}
	}
}

type inner struct {
	Deep string `yaml:"deep"`
}

type outer struct {
	inner  `yaml:",inline"`
	Size   int    `yaml:"size,omitempty"`
	Hidden string `yaml:"-"`
}

func TestFields_DeclareEachKeyOfTheType(t *testing.T) {
	got, err := Fields{"deep": AnyText("x"), "size": Count(1, 2)}.Parameters(reflect.TypeFor[outer]())
	want := []Parameter{{Name: "deep", Domain: AnyText("x")}, {Name: "size", Optional: true, Domain: Count(1, 2)}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v (%v)", got, err)
	}
	_, err = Fields{"size": Count(1, 2), "color": Flag()}.Parameters(reflect.TypeFor[outer]())
	for _, want := range []string{"the field deep has no domain", "there is no field color"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestEntry_LacksWhatItsGivenParametersNeed(t *testing.T) {
	never := func(why string) cluster.Ability {
		return cluster.Ability{Name: why, Lack: func(cluster.Cluster) string { return "it has no " + why }}
	}
	entry := Entry{
		Parameters: []Parameter{{Name: "off", Optional: true, Domain: Flag(), Needs: []cluster.Ability{never("switches")}}},
		Requires: func(v Values) []cluster.Ability {
			if v["deep"] != nil {
				return []cluster.Ability{never("depth")}
			}
			return nil
		},
	}
	for want, values := range map[string]Values{"": {}, "it has no switches": {"off": true}, "it has no depth": {"deep": 1}} {
		if got := entry.Lacks(nil, values); got != want {
			t.Errorf("with %v it lacks %q, want %q", values, got, want)
		}
	}
}
