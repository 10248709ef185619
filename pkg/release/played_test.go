package release

import "testing"

func TestPlayed_IsReadAsItIsWritten(t *testing.T) {
	for text, want := range map[string]Played{
		"v1.37.1":                {Binary: "v1.37.1"},
		"v1.37.1 emulating 1.36": {Binary: "v1.37.1", Emulated: "1.36"},
		"v1.37.1 emulating 1.36 compatible with 1.34": {Binary: "v1.37.1", Emulated: "1.36", Compatible: "1.34"},
		"v1.37.1 compatible with 1.35":                {Binary: "v1.37.1", Compatible: "1.35"},
		"":                                            {},
	} {
		if got := Parse(text); got != want || got.String() != text {
			t.Errorf("%q is read as %+v and written as %q", text, got, got)
		}
	}
	if got := Parse("v1.37.1").Behaves(); got != "v1.37.1" {
		t.Errorf("it behaves like %s", got)
	}
	if got := Parse("v1.37.1 emulating 1.36").Behaves(); got != "1.36" {
		t.Errorf("it behaves like %s", got)
	}
}

func TestEmulationIsNoneOfAComparison(t *testing.T) {
	const emulates = "v1.37.1 emulating 1.36"
	if !Valid(emulates) || Compare(emulates, "v1.37.1") != 0 || Compare(emulates, "v1.36.3") <= 0 || !Is(emulates, "v1.37.1") || Is(emulates, "v1.36.3") {
		t.Error("its binaries are not taken for those of v1.37.1")
	}
}

func TestMinor(t *testing.T) {
	for release, want := range map[string]string{"v1.36.3": "1.36", "1.2": "1.2", "v1.37.0-rc.1": "1.37", "v1.36.3+k3s1": "1.36", "v1.37.1 emulating 1.36": "1.37"} {
		if got, err := Minor(release); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", release, got, err, want)
		}
	}
	if got, err := Minor("tip"); err == nil {
		t.Errorf("tip is %q", got)
	}
}
