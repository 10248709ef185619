package scenario

import "testing"

func TestNextRelease(t *testing.T) {
	known := []string{"1.1", "1.2", "1.3", "1.4"}
	for _, tc := range []struct {
		name                 string
		action               Action
		current, start, want string
	}{
		{"the binaries first", &Upgrade{Replace{Member: "@cp1", To: "@next", Emulate: "@start"}}, "1.2", "1.2", "1.3 emulating 1.2"},
		{"relative to the release before the step", &Upgrade{Replace{Member: "@cp1", To: "1.4", Emulate: "@next"}}, "1.2", "1.1", "1.4 emulating 1.3"},
		{"a version by its name", &Upgrade{Replace{Member: "@cp1", To: "1.3", Emulate: "1.1"}}, "1.2", "1.2", "1.3 emulating 1.1"},
		{"its own version is none", &Upgrade{Replace{Member: "@cp1", To: "@next", Emulate: "@next"}}, "1.2", "1.2", "1.3"},
		{"an upgrade emulates no more", &Upgrade{Replace{Member: "@cp1", To: "@next"}}, "1.3 emulating 1.2", "1.2", "1.4"},
		{"back", &Rollback{Replace{Member: "@cp1", To: "@start"}}, "1.3 emulating 1.2", "1.2", "1.2"},
		{"back to an emulation", &Rollback{Replace{Member: "@cp1", To: "@start"}}, "1.4", "1.3 emulating 1.2", "1.3 emulating 1.2"},
		{"raised", &Emulate{Members: []string{"@all"}}, "1.3 emulating 1.2", "1.2", "1.3"},
		{"lowered", &Emulate{Members: []string{"@all"}, Version: "@start"}, "1.3", "1.2", "1.3 emulating 1.2"},
		{"readable to an older one", &Emulate{Members: []string{"@all"}, Compatible: "1.1"}, "1.3", "1.2", "1.3 compatible with 1.1"},
		{"a restart changes nothing", &Restart{Members: []string{"@all"}}, "1.3 emulating 1.2", "1.2", "1.3 emulating 1.2"},
	} {
		if got, err := nextRelease(tc.action, tc.current, tc.start, known); err != nil || got != tc.want {
			t.Errorf("%s: %q (%v), want %q", tc.name, got, err, tc.want)
		}
	}
	if got, err := nextRelease(&Rollback{Replace{Member: "@cp1", To: "@previous", Emulate: "@start+1"}}, "1.2", "1.2", known); err == nil {
		t.Errorf("binaries cannot emulate what is newer, and they get %q", got)
	}
	if got, err := nextRelease(&Emulate{Version: "@previous"}, "1.1", "1.1", known); err == nil {
		t.Errorf("there is no release before the first, and it gets %q", got)
	}
}
