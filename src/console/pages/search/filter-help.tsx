/** A table of the filter language. */
const OPERATORS: readonly (readonly [written: string, meets: string])[] = [
  ["genre = 'novel'   genre != 'novel'", 'the same value, another value'],
  ['year >= 1960 AND year < 1970', 'before and after: numbers by size, texts by their characters'],
  ["title GLOB '*[Ll]eft*'   title NOT GLOB 'the *'", 'the whole text by a pattern: * ? [abc] [^abc]'],
  ['year IN (1968, 1969)   year NOT IN (1970)', 'one of them, none of them'],
  ["tags CONTAINS 'winter'   tags NOT CONTAINS 'summer'", 'a list that has it'],
  ['HAS FIELD note   HAS NOT FIELD publisher', 'it is there, it is not'],
  ["author.name = 'Ursula'   tags[0] = 'a'   tags[#-1] = 'z'", 'a field within another, the first and last of a list'],
  ["@metadata.genre = 'novel'", 'the metadata'],
  ['(price < 5 OR isLent = true) AND year < 1970', 'AND binds tighter than OR'],
];

export function FilterHelp() {
  return (
    <details>
      <summary>How filters are written</summary>
      <div class="table-box">
        <table>
          <thead>
            <tr>
              <th scope="col">Written</th>
              <th scope="col">Meets</th>
            </tr>
          </thead>
          <tbody>
            {OPERATORS.map(([written, meets]) => (
              <tr key={written}>
                <td>
                  <code>{written}</code>
                </td>
                <td>{meets}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="small muted">A missing field matches only HAS NOT FIELD and NOT IN ().</p>
    </details>
  );
}
