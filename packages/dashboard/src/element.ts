/** What an element can hold. */
export type Child = Node | string

/** An element with attributes and children; `false` leaves an attribute out. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | false>> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) if (value !== false) made.setAttribute(name, value)
  made.append(...children)
  return made
}

/** An element of the page, which has it. */
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
  return document.getElementById(id) as E
}

/** Changes a text only where it differs, so that readers of the screen are not told it again. */
export function setText(target: Node, text: string): void {
  if (target.textContent !== text) target.textContent = text
}

/** Rows that stay where they are while their figures change, so that nobody loses the place of the keyboard. */
export class KeyedRows<T, Row extends HTMLElement> {
  readonly #body: HTMLElement
  readonly #make: (item: T) => Row
  readonly #update: (row: Row, item: T) => void
  #rows = new Map<string, Row>()

  constructor(body: HTMLElement, make: (item: T) => Row, update: (row: Row, item: T) => void) {
    this.#body = body
    this.#make = make
    this.#update = update
  }

  show(items: readonly (readonly [id: string, item: T])[]): void {
    const before = this.#rows
    this.#rows = new Map(items.map(([id, item]) => [id, before.get(id) ?? this.#make(item)]))
    for (const [id, row] of before) if (!this.#rows.has(id)) row.remove()
    items.forEach(([id, item], i) => {
      const row = this.#rows.get(id)!
      this.#update(row, item)
      if (this.#body.children[i] !== row) this.#body.insertBefore(row, this.#body.children[i] ?? null)
    })
  }
}

/** Buttons of which one is pressed. */
export function buttonChoice<T extends string>(
  group: HTMLElement,
  options: readonly (readonly [value: T, label: string])[],
  chosen: T,
  changed: (value: T) => void,
): void {
  const buttons = options.map(([value, label]) => {
    const button = element('button', { type: 'button', 'aria-pressed': String(value === chosen) }, label)
    button.addEventListener('click', () => {
      for (const each of buttons) each.setAttribute('aria-pressed', String(each === button))
      changed(value)
    })
    return button
  })
  group.append(...buttons)
}
