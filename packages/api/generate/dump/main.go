// Command dump writes the field tables as JSON to standard output.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"sheaf/generate/tables"
)

func main() {
	built, err := tables.Build()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(built)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
