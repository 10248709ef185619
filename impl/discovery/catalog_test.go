package discovery

import (
	"context"
	"slices"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/utils/clock"
)

// running is an empty catalog that publishes by itself.
func running(t *testing.T) *Catalog {
	t.Helper()
	c, err := NewCatalog("apis", clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	go c.Run(t.Context())
	return c
}

// settled is the document once all changes are in it.
func settled(t *testing.T, c *Catalog) *Document {
	t.Helper()
	if err := c.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c.Document()
}

func TestCatalogFollowsChanges(t *testing.T) {
	c := running(t)
	a, b := hosted(Builtin, "a", "v1", Priority{2, 1}, "apples"), hosted(Custom, "b", "v1", Priority{1, 1}, "pears")
	steps := []struct {
		name string
		do   func()
		want []string
	}{
		{"put in", func() { c.Set(a); c.Set(b) }, []string{"a/v1:apples", "b/v1:pears"}},
		{"ranked", func() { c.Rank(Custom, b.GroupVersion(), Priority{3, 1}) }, []string{"b/v1:pears", "a/v1:apples"}},
		{"shadowed", func() { c.Set(hosted(Remote, "b", "v1", Priority{1, 1}, "plums")) }, []string{"a/v1:apples", "b/v1:plums"}},
		{"bared again", func() { c.Remove(Remote, b.GroupVersion()) }, []string{"b/v1:pears", "a/v1:apples"}},
		{"taken out", func() { c.RemoveGroup(Custom, "b") }, []string{"a/v1:apples"}},
		{"replaced", func() { c.Replace(Builtin, []Entry{hosted(Builtin, "c", "v1", Priority{1, 1})}) }, []string{"c/v1"}},
		{"nothing left", func() { c.Replace(Builtin, nil) }, nil},
	}
	for _, step := range steps {
		step.do()
		if got := names(settled(t, c).Groups()); !slices.Equal(got, step.want) {
			t.Fatalf("%s: got %v, want %v", step.name, got, step.want)
		}
	}
}

func TestTagFollowsContent(t *testing.T) {
	c := running(t)
	c.Set(hosted(Builtin, "a", "v1", Priority{1, 1}, "apples"))
	first := settled(t, c).Tag()
	c.Set(hosted(Custom, "b", "v1", Priority{1, 1}, "pears"))
	second := settled(t, c).Tag()
	c.Remove(Custom, schema.GroupVersion{Group: "b", Version: "v1"})
	if third := settled(t, c).Tag(); first == second || first != third {
		t.Errorf("%s, then %s, and back to %s", first, second, third)
	}
}

// Nothing that a source does with its own copy afterwards, and no change that
// changes nothing, is seen in the document.
func TestCatalogKeepsItsOwnCopy(t *testing.T) {
	c := cluster(t, 1)
	entry := hosted(Custom, "a", "v1", Priority{1, 1}, "apples")
	c.Set(entry)
	if err := c.Publish(); err != nil {
		t.Fatal(err)
	}
	before := c.Document()
	c.Set(hosted(Custom, "a", "v1", Priority{1, 1}, "apples"))
	c.Rank(Custom, entry.GroupVersion(), Priority{1, 1})
	entry.Version.Resources[0].Resource = "pears"
	if err := c.Publish(); err != nil {
		t.Fatal(err)
	}
	if c.Document() != before {
		t.Error("published again")
	}
	if got := names(before.Groups()); !slices.Contains(got, "a/v1:apples") {
		t.Errorf("got %v", got)
	}
}

// AD-21: the metrics of the KEP count changes, not requests.
func TestAggregationsAreCounted(t *testing.T) {
	c := cluster(t, 1)
	count := func() float64 {
		value, err := testutil.GetCounterMetricValue(aggregations)
		other, errOther := testutil.GetCounterMetricValue(published)
		if err != nil || errOther != nil || value != other {
			t.Fatalf("%v (%v), %v (%v)", value, err, other, errOther)
		}
		return value
	}
	before := count()
	for range 10 {
		get(t, NewHandler(Local(c), Local(c), versions, nil), "/apis", as(testJSON, V2))
	}
	if got := count() - before; got != 0 {
		t.Errorf("10 requests: %v aggregations", got)
	}
	c.Set(hosted(Custom, "more", "v1", Priority{1, 1}))
	if err := c.Publish(); err != nil {
		t.Fatal(err)
	}
	if got := count() - before; got != 1 {
		t.Errorf("a change: %v aggregations", got)
	}
}

// The forms that clients requested of one document are ready in the next one.
func TestNextDocumentIsPrepared(t *testing.T) {
	c := cluster(t, 1)
	form := Form{Version: V2, MediaType: testProtobuf}
	if _, err := c.Document().Bytes(form, true); err != nil {
		t.Fatal(err)
	}
	c.Set(hosted(Custom, "more", "v1", Priority{1, 1}))
	if err := c.Publish(); err != nil {
		t.Fatal(err)
	}
	next := c.Document()
	if next.forms[form].gzipped.bytes == nil {
		t.Error("the form of the last request is not ready")
	}
	if next.forms[Form{Version: V2, MediaType: testYAML}].plain.bytes != nil {
		t.Error("the document was encoded in a form that no client requested")
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	c := cluster(t, 0)
	c.Set(hosted(Custom, "more", "v1", Priority{1, 1}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Wait(ctx); err == nil {
		t.Error("Wait succeeded although the catalog does not run")
	}
}

func TestPlainFollowsAggregated(t *testing.T) {
	groups := Merge([]Entry{
		hosted(Custom, "a", "v1beta1", Priority{1, 1}, "x"), hosted(Custom, "a", "v1", Priority{1, 1}, "x"), hosted(Builtin, "b", "v1", Priority{2, 1}, "x"),
	})
	groups = append(groups, apidiscoveryv2.APIGroupDiscovery{})
	plain := Plain(groups)
	if len(plain) != 2 || plain[0].Name != "b" || plain[1].PreferredVersion.GroupVersion != "a/v1" || plain[1].Versions[1].Version != "v1beta1" {
		t.Errorf("got %+v", plain)
	}
}
