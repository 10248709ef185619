package check

import (
	"maps"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// collectionChecks are those of KEP-2339's garbage collection.
var collectionChecks = map[requirement.ID]entry{
	"SV-16": {make: func() Check { return newSV16() }, sources: []Source{SourceEtcd}},
	"SV-17": {make: func() Check { return newSV17() }, sources: []Source{SourceEtcd, SourceReady}},
	"SV-18": {make: func() Check { return newSV18() }, sources: []Source{SourceEtcd}},
	"SV-19": {make: func() Check { return newSV19() }, sources: []Source{SourceEtcd, SourceRequest}},
	"SV-20": {make: func() Check { return newSV20() }, sources: []Source{SourceEtcd}},
}

func init() { maps.Copy(registry, collectionChecks) }
