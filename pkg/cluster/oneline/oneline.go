// Package oneline joins errors into one that is a single line, as the errors of
// clusters promise to be. The standard library's errors.Join makes a line of
// each.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package oneline

import "strings"

// Join is errors.Join with "; " between what the errors say. It is nil if all of
// them are.
func Join(errs ...error) error {
	var all several
	for _, err := range errs {
		if err != nil {
			all = append(all, err)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}

type several []error

// Error implements error.
func (s several) Error() string {
	said := make([]string, 0, len(s))
	for _, err := range s {
		said = append(said, err.Error())
	}
	return strings.Join(said, "; ")
}

// Unwrap lets errors.Is and errors.As look into all of them.
func (s several) Unwrap() []error { return s }
