package discovery

import (
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// hooks are where defects are planted in a catalog and the union that is made of it, one for
// each decision. Those of soundHooks change nothing.
type hooks struct {
	// entry is what is put in.
	entry func(Entry) Entry
	// keeps is whether a group-version, or with an empty version a group, stays although its
	// source takes it out; removed comes after it went.
	keeps   func(Source, schema.GroupVersion) bool
	removed func(Source)
	// begins comes before the first publication of Run, and published after each.
	begins, published func()
	// merged are the groups that are published, and document what is told of them.
	merged   func([]apidiscoveryv2.APIGroupDiscovery) []apidiscoveryv2.APIGroupDiscovery
	document func(*Document) (*Document, error)
	// peers are those of the union, and routes whether requests are handed on to them.
	peers  func([]Hosting) []Hosting
	routes func() bool
}

func soundHooks() hooks {
	return hooks{
		entry:     func(entry Entry) Entry { return entry },
		keeps:     func(Source, schema.GroupVersion) bool { return false },
		removed:   func(Source) {},
		begins:    func() {},
		published: func() {},
		merged:    func(groups []apidiscoveryv2.APIGroupDiscovery) []apidiscoveryv2.APIGroupDiscovery { return groups },
		document:  func(document *Document) (*Document, error) { return document, nil },
		peers:     func(peers []Hosting) []Hosting { return peers },
		routes:    func() bool { return true },
	}
}
