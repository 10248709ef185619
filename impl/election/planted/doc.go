// Package planted plants the defects of coordinated leader election from outside of its
// decisions: it changes what a decision sees, or what comes of it. Package election
// reads as KEP-4355 does, and knows no defect.
package planted
