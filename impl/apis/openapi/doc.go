// Package openapi holds the generated schemas of the kinds that the reference
// serves; hack/generate writes them.
package openapi
