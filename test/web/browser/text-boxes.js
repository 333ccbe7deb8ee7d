// Finds texts of a page that cannot be read: they lie on another text, stick out of their box, or are cut off.
// The browser evaluates it as one expression.

;(() => {
  /** Pixels that rounding and the shapes of letters need. */
  const SLACK = 1.5
  /** The part of a line's height by which lines may touch: their boxes are higher than the letters. */
  const LINE_SLACK = 0.35

  const styleOf = (element) => getComputedStyle(element)
  /** Whether an element is for screen readers only, or not shown at all. */
  const isHidden = (element) => {
    const { display, visibility, clipPath } = styleOf(element)
    return display === 'none' || visibility === 'hidden' || clipPath === 'inset(50%)'
  }
  const ancestors = (element) => (element === null ? [] : [element, ...ancestors(element.parentElement)])

  /** The lines of every text that is shown: the text, the element around it and the box of each line. */
  function shownTexts() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const texts = []
    while (walker.nextNode()) {
      const node = walker.currentNode
      const element = node.parentElement
      if (node.data.trim() === '' || ['SCRIPT', 'STYLE', 'OPTION'].includes(element.tagName)) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      const boxes = [...range.getClientRects()].filter(({ width, height }) => width > 0 && height > 0)
      if (boxes.length === 0 || ancestors(element).some(isHidden)) continue
      texts.push({ text: node.data.trim(), element, boxes })
    }
    return texts
  }

  const nameOf = ({ text, element }) =>
    `"${text.length > 40 ? `${text.slice(0, 40)}…` : text}" (${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''})`
  const isOutside = (inner, outer) => inner.left < outer.left - SLACK || inner.right > outer.right + SLACK
  const scrolls = (element) => ['auto', 'scroll'].includes(styleOf(element).overflowX)

  /** Why a text is not whole within its boxes; null if it is, or if a box around them scrolls. */
  function excess(text) {
    let problem = null
    for (const element of ancestors(text.element)) {
      if (element === document.body) break
      const { display, overflowX, textOverflow } = styleOf(element)
      if (scrolls(element) || textOverflow === 'ellipsis') return null
      const isDrawing = element instanceof SVGSVGElement
      const isBox = isDrawing ? overflowX !== 'visible' : !display.startsWith('inline') && !element.closest('svg')
      if (isBox && text.boxes.some((box) => isOutside(box, element.getBoundingClientRect())))
        problem ??= `${nameOf(text)} sticks out of ${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''}`
    }
    return problem
  }

  function overlap(one, other) {
    const width = Math.min(one.right, other.right) - Math.max(one.left, other.left)
    const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
    return width > SLACK && height > LINE_SLACK * Math.min(one.height, other.height)
  }

  /** The pairs of texts that lie on each other. Texts that scroll within a box of their own cover nothing outside. */
  function overlaps(texts) {
    const lines = texts
      .filter(({ element }) => !ancestors(element).some((each) => each !== document.documentElement && scrolls(each)))
      .flatMap((text) => text.boxes.map((box) => ({ text, box })))
      .sort((one, other) => one.box.top - other.box.top)
    return lines.flatMap(({ text, box }, index) => {
      const found = []
      for (let next = index + 1; next < lines.length && lines[next].box.top < box.bottom; next++)
        if (lines[next].text !== text && overlap(box, lines[next].box))
          found.push(`${nameOf(text)} lies on ${nameOf(lines[next].text)}`)
      return found
    })
  }

  /** Tables that do not fit: a value pushes the other columns out of sight. */
  function wideTables() {
    const boxes = [...document.querySelectorAll('.table-box')].filter(
      (box) => box.scrollWidth > box.clientWidth + SLACK,
    )
    return boxes.map(
      (box) => `the table "${box.getAttribute('aria-label')}" is ${box.scrollWidth} px wide, not ${box.clientWidth}`,
    )
  }

  const texts = shownTexts()
  return {
    count: texts.length,
    problems: [...new Set([...texts.map(excess).filter(Boolean), ...overlaps(texts), ...wideTables()])],
  }
})()
