package history

import "testing"

func TestMemberOf(t *testing.T) {
	h := Header{Members: []MemberHeader{{Name: "cp1"}, {Name: "cp2", Host: "run-cp2"}}}
	for _, tc := range []struct {
		holder string
		want   int
	}{
		{"cp1_0f", 0}, {"cp1", 0}, {"run-cp2_0f", 1},
		// A member whose host has another name than its own is not found by its own.
		{"cp2_0f", -1},
		{"cp3_0f", -1}, {"", -1}, {"_0f", -1},
	} {
		if got := h.MemberOf(tc.holder); got != tc.want {
			t.Errorf("%q is of member %d, want %d", tc.holder, got, tc.want)
		}
	}
}

func TestProgramOn(t *testing.T) {
	if program, host, ok := ParseProgram(ProgramOn("kube-scheduler", "cp1")); !ok || program != "kube-scheduler" || host != "cp1" {
		t.Errorf("%q on %q (%t)", program, host, ok)
	}
	for _, name := range []string{"kube-scheduler", "kube-scheduler@", "@cp1", ""} {
		if _, _, ok := ParseProgram(name); ok {
			t.Errorf("%q tells a host", name)
		}
	}
}
