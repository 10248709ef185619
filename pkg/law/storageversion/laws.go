package storageversion

import "github.com/evenkeel/evenkeel/pkg/law"

// KEP is KEP-2339.
func KEP() law.KEP { return law.New(newFacts, laws) }

var laws = []law.Law[*facts]{
	sv01, sv02, sv03, sv04, sv05, sv06, sv07, sv08, sv09, sv10, sv11, sv12, sv13,
	sv14, sv15, sv16, sv17, sv18, sv19, sv20, sv21, sv22, sv23, sv24, sv25, sv26, sv27,
}
