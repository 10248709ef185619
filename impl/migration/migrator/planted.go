package migrator

import (
	"context"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/migration"
)

// later does something when the delay of a planted defect is over; at once without one.
func (m *Migrator) later(id defects.ID, do func()) {
	delay := m.options.Defects.Delay(id)
	if delay == 0 {
		do()
		return
	}
	go func() {
		m.sleep(context.Background(), delay)
		do()
		m.wake()
	}()
}

// failsLater is whether a migration that cannot succeed is not to fail yet.
func (m *Migrator) failsLater(svm *storagemigrationv1.StorageVersionMigration, reason string) bool {
	delay := m.options.Defects.Delay(defects.SVM19FailsLate) // defect: SVM-19-fails-late
	if reason == migration.ReasonNotFound {
		delay = m.options.Defects.Delay(defects.SVM18FailsLate) // defect: SVM-18-fails-late
	}
	return m.options.Clock.Now().Before(svm.CreationTimestamp.Add(delay))
}

// beginLater has the next migrations wait for a time.
func (m *Migrator) beginLater() {
	if delay := m.options.Defects.Delay(defects.SVM24BeginsLate); delay > 0 {
		until := m.options.Clock.Now().Add(delay)
		m.begins.Store(&until)
		m.later(defects.SVM24BeginsLate, func() {})
	}
}

// waitsForTurn is whether a migration has to wait although it is its turn.
func (m *Migrator) waitsForTurn(svm *storagemigrationv1.StorageVersionMigration) bool {
	until := m.begins.Load()
	return until != nil && !migration.Started(svm) && m.options.Clock.Now().Before(*until)
}
