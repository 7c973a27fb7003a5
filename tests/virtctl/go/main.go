
package main

import (
	"os"

	_ "k8s.io/client-go/plugin/pkg/client/auth"

	"kubevirt.io/kubevirt/pkg/virtctl" // Import to initialize client auth plugins.
)

func main() {
	os.Exit(virtctl.Execute())
}
