package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFailing(t *testing.T) {
	for _, tc := range []struct{ name, body, want string }{
		{"nothing said", "", ""},
		{"all well", "[+]ping ok\n[+]etcd ok\n", ""},
		{"etcd", "[+]ping ok\n[-]etcd failed: reason withheld\n", ": it does not reach its etcd"},
		{"several", "[-]etcd failed: x\n[-]poststarthook/a failed: y\n", ", failing: etcd, poststarthook/a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := failing(tc.body); got != tc.want {
				t.Errorf("failing = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestEtcdHealth(t *testing.T) {
	for _, tc := range []struct{ name, body, expectError string }{
		{"well", `{"health":"true","reason":""}`, ""},
		{"no leader", `{"health":"false","reason":"RAFT NO LEADER"}`, "no majority of the members' etcd"},
		{"alarm", `{"health":"false","reason":"ALARM NOSPACE"}`, "etcd is not healthy: ALARM NOSPACE"},
		{"no JSON", `404 page not found`, "/health answered no JSON"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := etcdHealth([]byte(tc.body))
			if tc.expectError != "" {
				expectError(t, err, tc.expectError)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTail(t *testing.T) {
	long := strings.Repeat("x", 2*logTailBytes)
	for _, tc := range []struct{ name, log, want string }{
		{"empty", "", ""},
		{"few lines", "a\n\nb\n", "a | b"},
		{"last lines", "a\nb\nc\nd\n", "b | c | d"},
		{"crash", "a\npanic: b\n\ngoroutine 1:\nmain.main()\n\tmain.go:1\n", "panic: b"},
		{"end of a long line", long, "…" + long[:logTailBytes]},
		{"beyond its reach", strings.Repeat("y\n", logReach), "y | y | y"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(file, []byte(tc.log), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := tail(file); got != tc.want {
				t.Errorf("tail = %q, want %q", got, tc.want)
			}
		})
	}
	if got := tail("missing"); got != "" {
		t.Errorf("tail of nothing = %q", got)
	}
}
