package check

import "github.com/evenkeel/evenkeel/pkg/requirement"

// entry is a check that can be made, and the sources that it must be able to
// trust to be whole.
type entry struct {
	make    func() Check
	sources []Source
}

// registry lists the checks that are built in.
var registry = map[requirement.ID]entry{
	"SV-01": {func() Check { return &sv01{} }, []Source{SourceEtcd, SourceReady, SourceDiscovery}},
	"SV-02": {func() Check { return &sv02{} }, []Source{SourceEtcd, SourceDiscovery}},
	"SV-03": {func() Check { return &sv03{} }, []Source{SourceEtcd, SourceDiscovery, SourceRequest}},
	"SV-04": {func() Check { return &sv04{} }, []Source{SourceEtcd, SourceRequest}},
	"SV-05": {func() Check { return &sv05{} }, []Source{SourceEtcd, SourceDiscovery}},
	"SV-06": {func() Check { return newSV06() }, []Source{SourceEtcd, SourceRequest}},
	"SV-07": {func() Check { return newSV07() }, []Source{SourceEtcd}},
	"SV-09": {func() Check { return newSV09() }, []Source{SourceEtcd}},
	"SV-11": {func() Check { return newSV11() }, []Source{SourceEtcd}},
	"SV-12": {func() Check { return newSV12() }, []Source{SourceEtcd, SourceRequest}},
	"SV-13": {func() Check { return newSV13() }, []Source{SourceEtcd, SourceRequest}},
	"SV-14": {func() Check { return newSV14() }, []Source{SourceEtcd, SourceReady, SourceRequest, SourceDiscovery}},
	"SV-15": {func() Check { return newSV15() }, []Source{SourceEtcd}},
	"SV-21": {func() Check { return newSV21() }, []Source{SourceEtcd}},
	"SV-22": {func() Check { return newSV22() }, []Source{SourceEtcd, SourceWatch}},
	"SV-23": {func() Check { return newSV23() }, []Source{SourceEtcd}},

	"AD-01": {func() Check { return newAD01() }, []Source{SourceDocument}},
	"AD-02": {func() Check { return &ad02{} }, []Source{SourceDocument, SourceRequest}},
	"AD-03": {func() Check { return &ad03{} }, []Source{SourceDocument}},
	"AD-04": {func() Check { return &ad04{} }, []Source{SourceDocument}},
	"AD-05": {func() Check { return &ad05{} }, []Source{SourceDocument}},
	"AD-06": {func() Check { return newAD06() }, []Source{SourceDocument, SourceRequest}},
	"AD-07": {func() Check { return newAD07() }, []Source{SourceDocument}},
	"AD-08": {func() Check { return &ad08{} }, []Source{SourceDocument, SourceRequest}},
	"AD-09": {func() Check { return &ad09{} }, []Source{SourceDocument, SourceRequest}},
	"AD-10": {func() Check { return &ad10{} }, []Source{SourceDocument, SourceRequest}},
	"AD-11": {func() Check { return &ad11{} }, []Source{SourceDocument, SourceRequest}},
	"AD-12": {func() Check { return newAD12() }, []Source{SourceDocument}},
	"AD-13": {func() Check { return &ad13{} }, []Source{SourceDocument, SourceRequest, SourceReady}},
	"AD-14": {func() Check { return &ad14{} }, []Source{SourceDocument, SourceRequest, SourceReady}},
	"AD-15": {func() Check { return &ad15{} }, []Source{SourceDocument, SourceRequest, SourceReady}},
	"AD-16": {func() Check { return &ad16{} }, []Source{SourceRequest, SourceReady}},
	"AD-17": {func() Check { return newAD17() }, []Source{SourceDocument, SourceRequest, SourceReady}},
	"AD-18": {func() Check { return &ad18{} }, []Source{SourceDocument, SourceRequest, SourceReady}},
	"AD-19": {func() Check { return &ad19{} }, []Source{SourceDocument, SourceRequest, SourceReady}},
	"AD-20": {func() Check { return &ad20{} }, []Source{SourceDocument}},
	"AD-21": {func() Check { return &ad21{} }, []Source{SourceDocument, SourceRequest}},
	"AD-22": {func() Check { return newAD22() }, []Source{SourceDocument, SourceRequest, SourceReady}},
	"AD-25": {func() Check { return newAD25() }, []Source{SourceDocument, SourceRequest}},
}

// Built is whether a check for the requirement is built in.
func Built(id requirement.ID) bool {
	_, ok := registry[id]
	return ok
}
