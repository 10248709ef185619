package history

import (
	"strings"
	"testing"
)

func TestEtcdHealthProblem(t *testing.T) {
	whole := func() *EtcdHealth {
		h := &EtcdHealth{Target: 90}
		for i, name := range []string{"cp1", "cp2", "cp3"} {
			h.Members = append(h.Members, EtcdMember{
				Member: name, Cluster: "c", ID: string(rune('1' + i)), Leader: "2", Voters: 3, Term: 4, Index: 100, Applied: 99, Version: "3.6.8",
			})
		}
		return h
	}
	for _, tc := range []struct {
		name   string
		change func(*EtcdHealth)
		want   string
	}{
		{"whole", func(*EtcdHealth) {}, ""},
		{"no etcd asked", func(h *EtcdHealth) { h.Members = nil }, "no etcd was asked"},
		{"silent", func(h *EtcdHealth) { h.Members[2].Error = "refused" }, "the etcd of cp3 does not answer: refused"},
		{"alarm", func(h *EtcdHealth) { h.Members[0].Errors = []string{"NOSPACE"} }, "cp1 reports: NOSPACE"},
		{"no leader", func(h *EtcdHealth) { h.Members[1].Leader = "" }, "cp2 knows no leader"},
		{"other cluster", func(h *EtcdHealth) { h.Members[2].Cluster = "d" }, "cp3 is in cluster d"},
		{"two leaders", func(h *EtcdHealth) { h.Members[2].Leader = "3" }, "cp3 follows 3"},
		{"member lost", func(h *EtcdHealth) { h.Members[1].Voters = 2 }, "cp2 lists 2 voting members"},
		{"same twice", func(h *EtcdHealth) { h.Members[2].ID = "1" }, "the number of another one"},
		{"behind", func(h *EtcdHealth) { h.Members[2].Applied = 89 }, "cp3 has applied its log up to 89"},
		{"no target", func(h *EtcdHealth) { h.Target = 0 }, "could not be told"},
		{"strange leader", func(h *EtcdHealth) {
			for i := range h.Members {
				h.Members[i].Leader = "9"
			}
		}, "none of the members"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := whole()
			tc.change(h)
			got := h.Problem()
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("problem %q, want %q", got, tc.want)
			}
			if summary := h.Summary(); tc.want != "" && summary != got || tc.want == "" && !strings.Contains(summary, "leader cp2 (version 3.6.8)") {
				t.Errorf("summary %q", summary)
			}
		})
	}
}
