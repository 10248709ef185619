package discovery

import (
	"bytes"
	"fmt"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What is put together of fragments is to the letter what an encoder would write
// that knows of none.
func TestCanonicalFormIsThatOfAnEncoder(t *testing.T) {
	resources := hosted(Custom, "a<b>&.example.com", "v1", Priority{}, "things", "\u2028others").Version.Resources
	lists := map[string][]apidiscoveryv2.APIGroupDiscovery{
		"nothing":        nil,
		"core":           {{Versions: []apidiscoveryv2.APIVersionDiscovery{{Version: "v1", Resources: resources}}}},
		"no versions":    {{ObjectMeta: metav1.ObjectMeta{Name: "empty.example.com"}}},
		"no resources":   {{ObjectMeta: metav1.ObjectMeta{Name: "stale.example.com"}, Versions: []apidiscoveryv2.APIVersionDiscovery{unfetched(gv("stale.example.com", "v1"))}}},
		"many":           cluster(t, 50).Document().Groups(),
		"two, one stale": {{ObjectMeta: metav1.ObjectMeta{Name: "a<b>&.example.com"}, Versions: []apidiscoveryv2.APIVersionDiscovery{{Version: "v1", Resources: resources, Freshness: "Current"}, outdated(apidiscoveryv2.APIVersionDiscovery{Version: "v1", Resources: resources})}}},
		"fewer of those": {{ObjectMeta: metav1.ObjectMeta{Name: "a<b>&.example.com"}, Versions: []apidiscoveryv2.APIVersionDiscovery{{Version: "v1", Resources: resources[:1], Freshness: "Current"}}}},
	}
	known := fragments{}
	for range 2 { // The second time everything is known.
		for name, groups := range lists {
			list := listOf(groups)
			want, err := encode(list, canonical)
			if err != nil {
				t.Fatal(err)
			}
			got, starts, used, err := encodeCanonical(list, known, 0)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: %s\nwant %s", name, got, want)
			}
			for i, start := range starts {
				if start.name != groups[i].Name || !bytes.HasPrefix(got[start.offset:], []byte(`{"metadata":`)) {
					t.Errorf("%s: group %q begins with %.20s", name, start.name, got[start.offset:])
				}
			}
			for key, fragment := range used {
				known[key] = fragment
			}
		}
	}
}

// Only changed group-versions are encoded again, and removed ones leave the cache.
func TestFragmentsAreTakenOver(t *testing.T) {
	c := cluster(t, 50)
	before := c.Document().fragments
	c.Set(hosted(Custom, "group0007.example.com", "v1", Priority{1000, 100}, "changed"))
	if err := c.Publish(); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for key, fragment := range c.Document().fragments {
		if old, ok := before[key]; ok && &old[0] == &fragment[0] {
			kept++
		}
	}
	if all := len(c.Document().fragments); kept != all-1 || len(before) != all {
		t.Errorf("%d of %d fragments were taken over, of %d", kept, all, len(before))
	}
	c.Remove(Custom, gv("group0008.example.com", "v1"))
	if err := c.Publish(); err != nil {
		t.Fatal(err)
	}
	if all := len(c.Document().fragments); all != len(before)-1 {
		t.Errorf("%d fragments are kept, of %d before one was removed", all, len(before))
	}
}

// While group-versions come, change and go, the document is the one that a server
// makes that sees the last state only.
func TestDocumentDoesNotDependOnItsHistory(t *testing.T) {
	c := cluster(t, 400)
	if _, err := c.Document().Bytes(canonical, true); err != nil {
		t.Fatal(err)
	}
	for n := range 40 {
		group := fmt.Sprintf("group%04d.example.com", n*37%450)
		switch n % 3 {
		case 0:
			c.Set(hosted(Custom, group, "v1", Priority{1000, 100}, fmt.Sprintf("things%d", n), "more"))
		case 1:
			c.Remove(Custom, gv(group, "v1"))
		default:
			c.Set(hosted(Custom, group, "v2", Priority{1000, 100}, fmt.Sprintf("things%d", n)))
		}
		if err := c.Publish(); err != nil {
			t.Fatal(err)
		}
		now := c.Document()
		fresh, err := NewDocument(Merge(c.Entries()))
		if err != nil {
			t.Fatal(err)
		}
		if now.Tag() != fresh.Tag() {
			t.Fatalf("after %d changes the tag is %s, and of a new server %s", n+1, now.Tag(), fresh.Tag())
		}
		for _, gzipped := range []bool{false, true} {
			got, err := now.Bytes(canonical, gzipped)
			if err != nil {
				t.Fatal(err)
			}
			want, err := fresh.Bytes(canonical, gzipped)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("after %d changes the document (gzip %v) is not that of a new server", n+1, gzipped)
			}
		}
	}
}
