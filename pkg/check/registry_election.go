package check

import (
	"maps"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// electionChecks are the checks of KEP-4355.
var electionChecks = map[requirement.ID]entry{
	"CLE-01": {func() Check { return newCLE01() }, []Source{SourceEtcd, SourceReady}, 0},
	"CLE-02": {func() Check { return &cle02{} }, []Source{SourceEtcd}, 0},
	"CLE-03": {func() Check { return newCLE03() }, []Source{SourceEtcd}, 0},
	"CLE-04": {func() Check { return newCLE04() }, []Source{SourceEtcd}, 0},
	"CLE-05": {func() Check { return &cle05{} }, []Source{SourceEtcd}, 0},
	"CLE-06": {func() Check { return &cle06{} }, []Source{SourceEtcd}, 0},
	"CLE-07": {func() Check { return newCLE07() }, []Source{SourceEtcd}, 0},
	"CLE-08": {func() Check { return newCLE08() }, []Source{SourceEtcd}, 0},
	"CLE-09": {func() Check { return &cle09{} }, []Source{SourceEtcd}, 0},
	"CLE-10": {func() Check { return newCLE10() }, []Source{SourceEtcd}, 0},
	"CLE-11": {func() Check { return newCLE11() }, []Source{SourceEtcd}, 0},
	"CLE-12": {func() Check { return newCLE12() }, []Source{SourceEtcd}, 0},
	"CLE-13": {func() Check { return &cle13{} }, []Source{SourceEtcd, SourceReady}, 0},
	"CLE-14": {func() Check { return newCLE14() }, []Source{SourceEtcd}, 0},
	"CLE-15": {func() Check { return &cle15{} }, []Source{SourceEtcd}, 0},
	"CLE-16": {func() Check { return newCLE16() }, []Source{SourceEtcd}, 0},
	"CLE-17": {func() Check { return newCLE17() }, []Source{SourceEtcd}, 0},
	"CLE-18": {func() Check { return newCLE18() }, []Source{SourceEtcd}, 0},
	"CLE-19": {func() Check { return newCLE19() }, []Source{SourceEtcd}, 0},
	"CLE-20": {func() Check { return newCLE20() }, []Source{SourceEtcd}, 0},
	"CLE-21": {func() Check { return newCLE21() }, []Source{SourceEtcd}, 0},
	"CLE-22": {func() Check { return newCLE22() }, []Source{SourceEtcd}, 0},
	"CLE-23": {func() Check { return newCLE23() }, []Source{SourceEtcd, SourceReady, SourceRequest}, 0},
	"CLE-24": {func() Check { return newCLE24() }, []Source{SourceEtcd}, 0},
	"CLE-25": {func() Check { return newCLE25() }, []Source{SourceEtcd, SourceRequest}, 0},
}

func init() { maps.Copy(registry, electionChecks) }
