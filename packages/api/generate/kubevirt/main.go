// Prints the definitions of the kinds of KubeVirt as its operator installs them, one JSON object a line.
package main

import (
	"encoding/json"
	"log"
	"os"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"kubevirt.io/kubevirt/pkg/virt-operator/resource/generate/components"
)

func main() {
	out := json.NewEncoder(os.Stdout)
	for _, definition := range []func() (*extv1.CustomResourceDefinition, error){
		components.NewVirtualMachineCrd,
		components.NewVirtualMachineInstanceCrd,
		components.NewVirtualMachineInstanceMigrationCrd,
		components.NewPresetCrd,
		components.NewReplicaSetCrd,
		components.NewKubeVirtCrd,
		components.NewVirtualMachineInstancetypeCrd,
		components.NewVirtualMachineClusterInstancetypeCrd,
		components.NewVirtualMachinePreferenceCrd,
		components.NewVirtualMachineClusterPreferenceCrd,
		components.NewVirtualMachineSnapshotCrd,
		components.NewVirtualMachineSnapshotContentCrd,
		components.NewVirtualMachineRestoreCrd,
		components.NewVirtualMachineCloneCrd,
		components.NewVirtualMachineExportCrd,
		components.NewVirtualMachinePoolCrd,
		components.NewMigrationPolicyCrd,
	} {
		crd, err := definition()
		if err != nil {
			log.Fatal(err)
		}
		if err := out.Encode(crd); err != nil {
			log.Fatal(err)
		}
	}
}
