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
}

// Built is whether a check for the requirement is built in.
func Built(id requirement.ID) bool {
	_, ok := registry[id]
	return ok
}
