// Package published speaks the published API for storage version migrations,
// storagemigration.k8s.io, in whichever of its versions a control plane serves:
// Kubernetes has v1beta1 in v1.35 and v1.36, and v1 from v1.37 on. The versions
// differ in nothing but their name, so this module uses v1.
package published
