package timeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/report"
)

func TestComparisonsAreDrawn(t *testing.T) {
	c := newCollector(&report.ConformanceReport{}, "history.jsonl")
	c.begin(history.Header{Members: []history.MemberHeader{{Name: "cp1"}}})
	shown := history.Shown{Code: 200, ResourceVersion: 7, Sent: 1, At: 2}
	stale := history.Shown{Code: 200, ResourceVersion: 6, Sent: 1, At: 2, Stale: true}
	hash := func(one, two string) *history.EtcdHash {
		return &history.EtcdHash{Revision: 7, Members: []history.EtcdMemberHash{{Member: "cp1", Hash: one, Compacted: -1}, {Member: "cp2", Hash: two, Compacted: -1}}}
	}
	for i, ev := range []history.Event{
		{Kind: history.KindRead, Member: "cp1", Read: &history.Read{Code: 200, Compared: true}},
		{Kind: history.KindRead, Member: "cp1", Read: &history.Read{Code: 200, Compared: true, Missing: 1}},
		{Kind: history.KindRead, Member: "cp1", Read: &history.Read{Code: 500}},
		{Kind: history.KindRead, Member: "cp1", Read: &history.Read{Code: 404, NotServed: true}},
		{Kind: history.KindVisibility, Member: "cp1", Visibility: &history.Visibility{ResourceVersion: 7, Get: shown, List: shown, Watch: shown}},
		{Kind: history.KindVisibility, Member: "cp1", Visibility: &history.Visibility{ResourceVersion: 7, Get: stale, List: shown}},
		{Kind: history.KindCustomResourceAnswer, Member: "cp1", CustomResourceAnswer: &history.CustomResourceAnswer{Group: "g", Resource: "things", Ready: 200, Code: 404, Count: 1}},
		{Kind: history.KindEtcdHash, EtcdHash: hash("a", "a")},
		{Kind: history.KindEtcdHash, EtcdHash: hash("a", "b")},
		{Kind: history.KindProcess, Member: "cp1", Process: &history.Process{Component: history.ComponentEtcd, Change: history.ProcessExited, Exit: "exit status 1", Log: []string{"a", "panic: b"}}},
	} {
		ev.Seq, ev.At = int64(i+1), int64(i+1)*1_000_000
		c.take(&ev)
	}
	c.finish()
	got := map[string]string{}
	for _, g := range c.picture.Groups {
		for _, l := range g.Lanes {
			var of []string
			for _, m := range l.Marks {
				of = append(of, fmt.Sprint(m.Seq))
			}
			for _, s := range l.Spans {
				of = append(of, c.picture.Texts[s.Text])
			}
			got[g.Name+"/"+l.Name] = strings.Join(of, ", ")
		}
	}
	for lane, want := range map[string]string{
		"cp1/reads against etcd":        "2, 3",
		"cp1/writes of others shown":    "6",
		"cp1/custom resources at start": "things.g answered with 404, ready",
		"The run/etcd's data":           "all members hold the same, members hold different data at revision 7",
		"cp1/etcd":                      "no process (exit status 1, which the harness had not asked for; its log ends with: a | panic: b)",
	} {
		if got[lane] != want {
			t.Errorf("%s: %q, want %q", lane, got[lane], want)
		}
	}
}
