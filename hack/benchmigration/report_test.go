package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

func TestPlanes(t *testing.T) {
	o, err := parse([]string{"-objects", "100 10"})
	if err != nil || o.objects[0] != 10 || o.objects[1] != 100 {
		t.Fatalf("%+v, %v", o, err)
	}
	planes, err := planesOf(o)
	if err != nil || len(planes) != 2 {
		t.Fatalf("%v, %v", planes, err)
	}
	for i, p := range planes {
		if p.Topology.Spec.Distribution != o.planes[i] || len(p.Topology.Spec.Members) != 1 || p.Topology.Spec.Settings.MigrationRate != o.rate {
			t.Errorf("%+v", p.Topology)
		}
	}
	o.planes = []string{"another"}
	if _, err := planesOf(o); err == nil {
		t.Error("an unknown plane is accepted")
	}
}

func TestParse(t *testing.T) {
	for _, args := range [][]string{{"-objects", "0"}, {"-objects", "1,000"}, {"-objects", ""}, {"-within", "0s"}, {"-rate", "0"}, {"-kubernetes-within", "-1s"}, {"-planes", ""}, {"more"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

func TestReport(t *testing.T) {
	o, err := parse([]string{"-planes", "reference kubernetes", "-objects", "10 100", "-within", "1h", "-kubernetes-within", "30m"})
	if err != nil {
		t.Fatal(err)
	}
	planes := []bench.Plane{{Title: "the one"}, {Title: "the other"}}
	began := time.Unix(0, 0)
	done := figures{rewrites: rewrites{101, began, began.Add(time.Second)}, took: 2, stored: 100, before: 50 << 20, peak: 60 << 20, busy: 0.5}
	late := figures{rewrites: rewrites{31, began, began.Add(time.Second)}, took: math.Inf(1), stored: 31, before: 50 << 20, peak: 120 << 20}
	few := figures{took: 1, stored: 10, before: 40 << 20, peak: 60 << 20}
	rounds := []round{{10, []figures{few, few}}, {100, []figures{done, late}}}
	text := markdown(o, planes, rounds)
	for _, want := range []string{
		`make bench-migration OBJECTS="10 100" RATE=400 WITHIN=1h0m0s KUBERNETES_WITHIN=30m0s WATCH_CACHE=true KUBERNETES=v1.36.3`,
		"- the other: processors were busy for 0 % of the time; at rest, API server and controller manager took 0 % of one; **the migration had not succeeded within 30m0s, when 69 of 100 objects were left**",
		"| objects rewritten | 100/s | 30/s | 3.33 |",
		"| objects rewritten | –/s | –/s |",
		"| from asked for to succeeded | 2.00 s | ∞ s |",
		"| memory at most, times that with 10 objects | 1.00 | 2.00 | 0.50 | < 1.25: met |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	// The report of one plane alone has no ratio, and the report shows an incomplete round.
	if text := markdown(o, planes, []round{{10, []figures{few}}}); strings.Contains(text, "ratio |") || !strings.Contains(text, "the one") {
		t.Error(text)
	}
	o.withoutWatchCache = true
	if text := markdown(o, planes, rounds); !strings.Contains(text, " WATCH_CACHE=false ") || !strings.Contains(text, "`--watch-cache=false`") {
		t.Error(text)
	}
	rounds[1].results[0].peak = 90 << 20
	if text := markdown(o, planes, rounds); !strings.Contains(text, "< 1.25: **missed**") {
		t.Error(text)
	}
}

func TestAnotherObjectIsLikeTheFirst(t *testing.T) {
	e := example{nameOf(0), "a-b", `{"metadata":{"name":"barrel-0000000","uid":"a-b"},"spec":{"cargo":"c"}}`}
	got := e.another(nameOf(12))
	if !strings.HasPrefix(got, `{"metadata":{"name":"barrel-0000012","uid":"`) || !strings.HasSuffix(got, `"},"spec":{"cargo":"c"}}`) || strings.Contains(got, `"a-b"`) {
		t.Error(got)
	}
	if again := e.another(nameOf(12)); again == got {
		t.Errorf("two have the UID of %s", got)
	}
}
