package check

import "github.com/evenkeel/evenkeel/pkg/requirement"

// wantedOfMigration is what must be said of the histories of migrations that do not
// pass.
var wantedOfMigration = map[requirement.ID]struct{ fail, weak string }{
	"SVM-01": {"cp3 took a migration of a group that cannot be one", "changes of the resource refused"},
	"SVM-02": {"migration early had Succeeded, and does not any more", "second outcomes refused"},
	"SVM-03": {"its checkpoint was recorded as 101", "changes of a checkpoint refused"},
	"SVM-04": {"and 1 objects from before its checkpoint", "objects that successful migrations rewrote in another version"},
	"SVM-05": {"and its metadata is not what it was", "objects rewritten with the same metadata"},
	"SVM-06": {"and migration again had it written again", "objects in the target version that migrations left alone"},
	"SVM-07": {"is back; migration early had begun", "updates by users while a migration ran"},
	"SVM-08": {"it was back without a user having made it", "objects deleted by users while a migration ran"},
	"SVM-09": {"after 1 of its objects had been deleted", "objects that users deleted before a migration that succeeded came to them"},
	"SVM-10": {"after 10 errors that pass by themselves", "errors that pass by themselves under migrations that succeeded"},
	"SVM-11": {"after its controller had ended", "migrations that succeeded after the controller that led had ended"},
	"SVM-12": {"ended when 12 of 20 objects were done, and 12 of those were written again", "interruptions of migrations after which the controller went on"},
	"SVM-13": {"after API servers had been restarted", "migrations that succeeded after the API server of every member had been restarted"},
	"SVM-14": {"while early ran", "migrations that ended and had another one of their resource before them"},
	"SVM-15": {"migration flip rewrote 6 objects in", "requests timed while a migration ran"},
	"SVM-16": {"with 11 objects stored as reference.evenkeel.dev/v1, and 1 that are not", "objects of one resource that lay in an old version when a migration of them began"},
	"SVM-17": {"and its status told nothing on the way", "reports of progress of migrations that took long"},
	"SVM-18": {"migration unknown succeeded", "migrations of unknown resources that failed with a reason"},
	"SVM-19": {"migration impossible succeeded", "migrations of what is never stored that failed"},
	"SVM-20": {"when the servers agreed on no version", "migrations that were asked for when they were not"},
	"SVM-21": {"migration rolled succeeded at revision", "migrations that ended after their agreement was lost"},
	"SVM-22": {"after migration again to reference.evenkeel.dev/v1 had succeeded", "writes after a success in the version that it was to"},
	"SVM-23": {"and storedVersions of its definition is [v1]", "trims of storedVersions by migrations that succeeded"},
	"SVM-24": {"migration next began only", "migrations deleted while they ran"},
	"SVM-25": {"clients of cp1 are not shown migration done", "holds after a rollback in which members listed"},
}

// fixtureObjects is how many objects the fixtures of SVM-16 have.
const fixtureObjects = 12

func init() {
	LargeMigration = fixtureObjects
	for id, want := range wantedOfMigration {
		wanted[id] = want
	}
}
