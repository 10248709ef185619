package check

import (
	"slices"

	migration "github.com/evenkeel/evenkeel/pkg/law/migration/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// enoughForStories is a requirement that asks for no more objects than its stories have.
func enoughForStories(r requirement.Requirement) requirement.Requirement {
	r.Needs = slices.Clone(r.Needs)
	for i := range r.Needs {
		r.Needs[i].Least = min(r.Needs[i].Least, migration.LargeObjects)
	}
	return r
}

// wantedOfMigration is what must be said of the histories of migrations that do not
// pass.
var wantedOfMigration = map[requirement.ID]struct{ fail, inconclusive string }{
	"SVM-01": {"cp3 accepted a migration of a group that cannot be one", "saw 0 changes of the resource refused, and needs at least 1"},
	"SVM-02": {"migration early had Succeeded, and does not any more", "saw 0 second outcomes refused, and needs at least 1"},
	"SVM-03": {"its checkpoint was recorded as 101", "saw 0 changes of a checkpoint refused, and needs at least 1"},
	"SVM-04": {"and 1 objects from before its checkpoint", "saw 0 objects that successful migrations rewrote in another version, and needs at least 5"},
	"SVM-05": {"and its metadata is not what it was", "saw 0 objects rewritten with the same metadata, and needs at least 5"},
	"SVM-06": {"and migration again wrote it again", "saw 0 objects in the target version that migrations left alone, and needs at least 5"},
	"SVM-07": {"is back; migration early had begun", "saw 0 updates by users while a migration ran, and needs at least 5"},
	"SVM-08": {"it was back without a user having created it", "saw 0 objects deleted by users while a migration ran, and needs at least 1"},
	"SVM-09": {"migration early failed (MigrationFailed: ended) after 1 of its objects had been deleted", "saw 0 objects that users deleted before a migration that succeeded came to them, and needs at least 1"},
	"SVM-10": {"migration early failed (MigrationFailed: ended) after 10 errors that pass by themselves", "saw 0 errors that pass by themselves under migrations that succeeded, and needs at least 10"},
	"SVM-11": {"migration early failed (MigrationFailed: ended) after", "saw 0 migrations that succeeded after the controller that led had ended, and needs at least 1"},
	"SVM-12": {"ended when 12 of 20 objects were done, and 12 of those were written again", "saw 0 interruptions of migrations after which the controller went on, and needs at least 1"},
	"SVM-13": {"after API servers had been restarted", "saw 0 migrations that succeeded after the API server of every member had been restarted, and needs at least 1"},
	"SVM-14": {"while early ran", "saw 0 migrations that ended and had another one of their resource before them, and needs at least 1"},
	"SVM-15": {"migration flip rewrote 18 objects within", "saw 0 requests timed while a migration ran, and needs at least 5"},
	"SVM-16": {"with 11 objects stored as reference.evenkeel.dev/v1, and 1 that are not", "saw 11 objects of one resource that were stored in an old version when a migration of them began, and needs at least 12"},
	"SVM-17": {"and its status told nothing on the way", "saw 0 reports of progress of migrations that took long, and needs at least 1"},
	"SVM-18": {"migration unknown of phantoms.nowhere.evenkeel.dev, which no server hosts, succeeded", "saw 0 migrations of unknown resources that failed with a reason, and needs at least 1"},
	"SVM-19": {"migration impossible of subjectaccessreviews.authorization.k8s.io, which is never stored, succeeded", "saw 0 migrations of what is never stored that failed, and needs at least 1"},
	"SVM-20": {"when the servers agreed on no version", "saw 0 migrations that were asked for when they did not agree, and that a controller had the time to begin with, and needs at least 1"},
	"SVM-21": {"migration rolled succeeded at revision", "saw 0 migrations that ended after their agreement was lost, and needs at least 1"},
	"SVM-22": {"after migration again to reference.evenkeel.dev/v1 had succeeded", "saw 0 writes after a success in the version that it was to, of the member with the fewest, and needs at least 3"},
	"SVM-23": {"and storedVersions of its definition is [v1]", "saw 0 trims of storedVersions by migrations that succeeded, and needs at least 1"},
	"SVM-24": {"migration next began only", "saw 0 migrations deleted while they ran, and needs at least 1"},
	"SVM-25": {"clients of cp1 are shown migration done no more", "saw 0 holds after a rollback in which members listed and showed all migrations, and needs at least 1"},
	"SVM-26": {"and 1 objects which are being deleted are not stored as reference.evenkeel.dev/v1", "saw 0 objects that were being deleted and that a successful migration left in the target version, and needs at least 1"},
	"SVM-27": {"still named an old version 1m0s after migration flip had succeeded", "saw 0 successes after which storedVersions named the storage version alone, and needs at least 1"},
}

func init() {
	for id, want := range wantedOfMigration {
		wanted[id] = want
	}
}
