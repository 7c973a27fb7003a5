const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** A duration as kubectl shows ages: at most two units, fewer the longer it is. */
export function humanDuration(milliseconds: number): string {
  if (milliseconds < -second) return '<invalid>';
  const duration = Math.max(0, milliseconds);
  if (duration < 2 * minute) return `${Math.floor(duration / second)}s`;
  if (duration < 10 * minute) return twoUnits(duration, [minute, 'm'], [second, 's']);
  if (duration < 3 * hour) return `${Math.floor(duration / minute)}m`;
  if (duration < 8 * hour) return twoUnits(duration, [hour, 'h'], [minute, 'm']);
  if (duration < 2 * day) return `${Math.floor(duration / hour)}h`;
  if (duration < 8 * day) return twoUnits(duration, [day, 'd'], [hour, 'h']);
  if (duration < 2 * year) return `${Math.floor(duration / day)}d`;
  if (duration < 8 * year) return twoUnits(duration, [year, 'y'], [day, 'd']);
  return `${Math.floor(duration / year)}y`;
}

type Unit = readonly [length: number, letter: string];

function twoUnits(duration: number, [large, letter]: Unit, [small, minor]: Unit): string {
  const rest = Math.floor((duration % large) / small);
  return `${Math.floor(duration / large)}${letter}${rest === 0 ? '' : `${rest}${minor}`}`;
}
