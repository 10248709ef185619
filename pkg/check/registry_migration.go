package check

import (
	"maps"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// migrationChecks are the checks of KEP-25.
var migrationChecks = map[requirement.ID]entry{
	"SVM-01": {func() Check { return &svm01{} }, []Source{SourceEtcd, SourceRequest}, 0},
	"SVM-02": {func() Check { return &svm02{} }, []Source{SourceEtcd, SourceRequest}, 0},
	"SVM-03": {func() Check { return &svm03{} }, []Source{SourceEtcd, SourceRequest}, 0},
	"SVM-04": {func() Check { return newSVM04() }, []Source{SourceEtcd}, onObjects},
	"SVM-05": {func() Check { return &svm05{} }, []Source{SourceEtcd}, onObjects},
	"SVM-06": {func() Check { return &svm06{} }, []Source{SourceEtcd}, onObjects},
	"SVM-07": {func() Check { return &svm07{} }, []Source{SourceEtcd, SourceRequest}, onObjects | onTags},
	"SVM-08": {func() Check { return newSVM08() }, []Source{SourceEtcd}, onObjects},
	"SVM-09": {func() Check { return newSVM09() }, []Source{SourceEtcd}, onObjects},
	"SVM-10": {func() Check { return newSVM10() }, []Source{SourceEtcd}, onObjects},
	"SVM-11": {func() Check { return &svm11{} }, []Source{SourceEtcd}, 0},
	"SVM-12": {func() Check { return newSVM12() }, []Source{SourceEtcd}, onObjects},
	"SVM-13": {func() Check { return &svm13{} }, []Source{SourceEtcd}, 0},
	"SVM-14": {func() Check { return newSVM14() }, []Source{SourceEtcd}, 0},
	"SVM-15": {func() Check { return newSVM15() }, []Source{SourceEtcd, SourceRequest, SourceReady}, onObjects},
	"SVM-16": {func() Check { return newSVM16() }, []Source{SourceEtcd, SourceRequest}, onObjects | onTags},
	"SVM-17": {func() Check { return newSVM17() }, []Source{SourceEtcd}, 0},
	"SVM-18": {func() Check { return &svm18{} }, []Source{SourceEtcd, SourceDiscovery}, 0},
	"SVM-19": {func() Check { return &svm19{} }, []Source{SourceEtcd, SourceDiscovery}, 0},
	"SVM-20": {func() Check { return &svm20{} }, []Source{SourceEtcd}, onObjects},
	"SVM-21": {func() Check { return newSVM21() }, []Source{SourceEtcd}, onObjects},
	"SVM-22": {func() Check { return newSVM22() }, []Source{SourceEtcd}, onObjects | onTags},
	"SVM-23": {func() Check { return newSVM23() }, []Source{SourceEtcd}, onObjects},
	"SVM-24": {func() Check { return newSVM24() }, []Source{SourceEtcd}, onObjects},
	"SVM-25": {func() Check { return newSVM25() }, []Source{SourceEtcd, SourceRequest, SourceWatch, SourceDiscovery}, 0},
}

func init() { maps.Copy(registry, migrationChecks) }
