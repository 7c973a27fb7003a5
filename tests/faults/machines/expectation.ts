/** What must be true of a machine, whatever has happened to Sheaf. */
export interface ExpectedMachine {
  readonly runs: boolean;
  /** How many disks it has. */
  readonly disks: number;
  /** Beginning of the UUID that its first disk has been marked with; absent: its own. */
  readonly diskOf?: string;
  /** How often its disk has been booted: each start boots it once, and nothing else does. */
  readonly boots: number;
}

/** What must be there after the deeds that were done. */
export class Expectation {
  readonly machines = new Map<string, ExpectedMachine>();
  /** Of claims that were made larger. */
  readonly bytes = new Map<string, number>();
  /** How many disks each snapshot of a machine holds. */
  readonly snapshots = new Map<string, { readonly machine: string; readonly disks: number }>();

  change(name: string, change: (machine: ExpectedMachine) => ExpectedMachine): void {
    const machine = this.machines.get(name);
    if (machine) this.machines.set(name, change(machine));
  }

  /** The machines for which this holds, in the order in which they came. */
  namesOf(holds: (machine: ExpectedMachine) => boolean): readonly string[] {
    return [...this.machines].flatMap(([name, machine]) => (holds(machine) ? [name] : []));
  }

  hasSnapshot(machine: string): boolean {
    return [...this.snapshots.values()].some((snapshot) => snapshot.machine === machine);
  }
}
