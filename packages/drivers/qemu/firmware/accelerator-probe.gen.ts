// Written by generate-images.ts; do not edit.

/** Firmware that tries what every guest needs; see accelerator-probe.S. */
export function acceleratorProbeImage(): Uint8Array {
  const image = Buffer.alloc(65536);
  image.write('+rBS5um4APCO2GYPARZIAQ8gwGaDyAEPIsBm6iIADwAIAGa4EACO2I7AjtC8AHAAALBQ5ukxwL8AEAAAuQAMAADzq8cFABAAAAMgAADHBQAgAAADMAAAxwUAMAAAgwAAALgAEAAADyLYDyDgg8ggDyLguYAAAMAPMg0AAQAADzAPIMANAAAAgA8iwOqSAA8AGACwTObpuYCEHgBIMdtIActIiRwlAGAAAEiLHCUAYAAASP/JdehIuEBiWanRAQAASDnDdVOwV+bpuAAADwAFGwEAAGaJBCUAgwAAZscEJQKDAAAYAGbHBCUEgwAAAI7B6BBmiQQlBoMAAEjHBCUIgwAAAAAAAA8BHCVOAQ8AzTCwIebpsCHm9PTr/bBJ5ulIz420AACNdAAAAAAAAAAAAP//AAAAms8A//8AAACSzwD//wAAAJqvAB8AKAEPAP8DAIA=', 'base64');
  image.write('6gAAAPAAAAAAAAAAAAAAAA==', 65520, 'base64');
  return image;
}
