package check

import (
	"maps"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// discoveryChecks are the checks of KEP-3352.
var discoveryChecks = map[requirement.ID]entry{
	"AD-01": {make: func() Check { return newAD01() }, sources: []Source{SourceDocument}},
	"AD-02": {make: func() Check { return &ad02{} }, sources: []Source{SourceDocument, SourceRequest}},
	"AD-03": {make: func() Check { return &ad03{} }, sources: []Source{SourceDocument}},
	"AD-04": {make: func() Check { return &ad04{} }, sources: []Source{SourceDocument}},
	"AD-05": {make: func() Check { return &ad05{} }, sources: []Source{SourceDocument}},
	"AD-06": {make: func() Check { return newAD06() }, sources: []Source{SourceDocument, SourceRequest}},
	"AD-07": {make: func() Check { return newAD07() }, sources: []Source{SourceDocument}},
	"AD-08": {make: func() Check { return &ad08{} }, sources: []Source{SourceDocument, SourceRequest}},
	"AD-09": {make: func() Check { return &ad09{} }, sources: []Source{SourceDocument, SourceRequest}},
	"AD-10": {make: func() Check { return &ad10{} }, sources: []Source{SourceDocument, SourceRequest}},
	"AD-11": {make: func() Check { return &ad11{} }, sources: []Source{SourceDocument, SourceRequest}},
	"AD-12": {make: func() Check { return newAD12() }, sources: []Source{SourceDocument}},
	"AD-13": {make: func() Check { return &ad13{} }, sources: []Source{SourceDocument, SourceRequest, SourceReady}},
	"AD-14": {make: func() Check { return &ad14{} }, sources: []Source{SourceDocument, SourceRequest, SourceReady}},
	"AD-15": {make: func() Check { return &ad15{} }, sources: []Source{SourceDocument, SourceRequest, SourceReady}},
	"AD-16": {make: func() Check { return &ad16{} }, sources: []Source{SourceRequest, SourceReady}},
	"AD-17": {make: func() Check { return newAD17() }, sources: []Source{SourceDocument, SourceRequest, SourceReady}},
	"AD-18": {make: func() Check { return &ad18{} }, sources: []Source{SourceDocument, SourceRequest, SourceReady}},
	"AD-19": {make: func() Check { return &ad19{} }, sources: []Source{SourceDocument, SourceRequest, SourceReady}},
	"AD-20": {make: func() Check { return &ad20{} }, sources: []Source{SourceDocument}},
	"AD-21": {make: func() Check { return &ad21{} }, sources: []Source{SourceDocument, SourceRequest}},
	"AD-22": {make: func() Check { return newAD22() }, sources: []Source{SourceDocument, SourceRequest, SourceReady}},
	"AD-23": {make: func() Check { return newAD23() }, sources: []Source{SourceDocument, SourceEtcd, SourceRequest, SourceReady}},
	"AD-24": {make: func() Check { return newAD24() }, sources: []Source{SourceDocument, SourceEtcd, SourceRequest, SourceReady}},
	"AD-25": {make: func() Check { return newAD25() }, sources: []Source{SourceDocument, SourceRequest}},
	"AD-26": {make: func() Check { return newAD26() }, sources: []Source{SourceDocument, SourceRequest, SourceReady}},
}

func init() { maps.Copy(registry, discoveryChecks) }
