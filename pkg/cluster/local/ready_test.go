package local

import (
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
