package scenario

import (
	"testing"
	"time"
)

func TestHowManyObjectsAMigrationLastsWith(t *testing.T) {
	for _, tc := range []struct {
		step Populate
		pace float64
		want int
	}{
		{Populate{Count: 330}, 150, 330},
		{Populate{MigrationDuration: 13200 * time.Millisecond}, 25, 330},
		{Populate{MigrationDuration: 13200 * time.Millisecond}, 150, 1980},
		{Populate{MigrationDuration: time.Second}, 0.3, 1},
	} {
		if got := tc.step.objects(tc.pace); got != tc.want {
			t.Errorf("%+v at %v a second: %d objects, want %d", tc.step, tc.pace, got, tc.want)
		}
	}
}
