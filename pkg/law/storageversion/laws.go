package storageversion

import "github.com/evenkeel/evenkeel/pkg/law"

// KEP is KEP-2339.
func KEP() law.KEP { return law.New(newFacts, laws) }

var laws = []law.Law[*facts]{
	sv01, sv02, sv03, sv04, sv05, sv06, sv07, sv08, sv09, sv10, sv11,
}
