package storageversion

// Holder is the holder of the manager's identity Lease.
func (m *Manager) Holder() string { return m.holder }
