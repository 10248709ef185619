package cluster

import "testing"

func TestPace(t *testing.T) {
	for _, tc := range []struct {
		settings Settings
		want     float64
	}{
		{Settings{}, usualPace},
		{Settings{MigrationRate: 5}, 5},
		{Settings{MigrationRate: 5, MigrationPace: 150}, 150},
	} {
		if got := tc.settings.Pace(); got != tc.want {
			t.Errorf("%+v: %v a second, want %v", tc.settings, got, tc.want)
		}
	}
}
