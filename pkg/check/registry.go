package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// entry is a check that can be made, and the sources that it must be able to
// trust to be whole.
type entry struct {
	make    func() Check
	sources []Source
	// relies is on what else the check builds.
	relies reliance
}

// reliance is what a check takes for granted, beside sources that missed
// nothing. Where the history speaks against it the check does not pass.
type reliance int

const (
	// onLooks: each server that was ready was asked what it hosts, and the
	// answers agree with each other and with etcd.
	onLooks reliance = 1 << iota
	// onTags: each accepted write of the harness shows in etcd under its tag.
	onTags
)

// registry lists the checks that are built in.
var registry = map[requirement.ID]entry{
	"SV-01": {func() Check { return &sv01{} }, []Source{SourceEtcd, SourceReady, SourceDiscovery}, onLooks},
	"SV-02": {func() Check { return newSV02() }, []Source{SourceEtcd, SourceDiscovery}, onLooks},
	"SV-03": {func() Check { return &sv03{} }, []Source{SourceEtcd, SourceDiscovery, SourceRequest}, onLooks},
	"SV-04": {func() Check { return &sv04{} }, []Source{SourceEtcd, SourceRequest}, 0},
	"SV-05": {func() Check { return &sv05{} }, []Source{SourceEtcd, SourceDiscovery}, onLooks},
	"SV-06": {func() Check { return newSV06() }, []Source{SourceEtcd, SourceRequest}, 0},
	"SV-07": {func() Check { return newSV07() }, []Source{SourceEtcd}, 0},
	"SV-08": {func() Check { return newSV08() }, []Source{SourceEtcd, SourceRequest}, onLooks | onTags},
	"SV-09": {func() Check { return newSV09() }, []Source{SourceEtcd}, 0},
	"SV-10": {func() Check { return newSV10() }, []Source{SourceEtcd, SourceReady, SourceRequest}, 0},
	"SV-11": {func() Check { return newSV11() }, []Source{SourceEtcd}, 0},
	"SV-12": {func() Check { return newSV12() }, []Source{SourceEtcd, SourceRequest}, onTags},
	"SV-13": {func() Check { return newSV13() }, []Source{SourceEtcd, SourceRequest}, 0},
	"SV-14": {func() Check { return newSV14() }, []Source{SourceEtcd, SourceReady, SourceRequest, SourceDiscovery}, onLooks},
	"SV-15": {func() Check { return newSV15() }, []Source{SourceEtcd}, onLooks | onTags},
	"SV-21": {func() Check { return newSV21() }, []Source{SourceEtcd}, onLooks | onTags},
	"SV-22": {func() Check { return newSV22() }, []Source{SourceEtcd, SourceWatch}, onLooks | onTags},
	"SV-23": {func() Check { return newSV23() }, []Source{SourceEtcd}, onLooks},
	"SV-24": {func() Check { return newSV24() }, []Source{SourceEtcd, SourceRequest}, onTags},
	"SV-25": {func() Check { return newSV25() }, []Source{SourceEtcd, SourceDiscovery}, onTags},
}

// Built is whether a law or a check for the requirement is built in.
func Built(id requirement.ID) bool {
	_, ok := registry[id]
	return ok || slices.ContainsFunc(keps, func(k law.KEP) bool { return slices.Contains(k.IDs(), id) })
}
