/** The value of a key in a map; when there is none, `make` makes it and the map keeps it. */
export function getOrCreate<Key, Value extends {}>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
